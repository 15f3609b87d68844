// How matrices whose elements are of few bits lie in words, for products with
// data that was rounded to bytes.
#ifndef INGOT_COMPILER_RELAY_FEW_BITS_H_
#define INGOT_COMPILER_RELAY_FEW_BITS_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/tensor.h"

namespace ingot::relay {

// Words of four bytes, i32[panels, blocks, words, columns], each with the
// numbers of one column. The numbers that share a scale are a block, along the
// dimension summed over. Of a word's numbers, which follow each other there,
// the first four are in the lowest bits of its bytes, the next four in those
// above them, and so on, so that a shift and a mask give four numbers that meet
// four neighbouring bytes of data.
//
// Data has a scale for each group of numbers: a block, or 32 of one.
struct FewBitsWords {
  static constexpr int64_t kBytes = 4;
  static constexpr int64_t kMostOfGroup = 32;

  int64_t bits;  // of a number: 2, 4 or 8
  int64_t blocks;
  int64_t words;    // of a block, a power of two
  int64_t columns;  // of a panel

  int64_t layers() const { return 8 / bits; }
  int64_t numbers() const { return layers() * kBytes; }  // of a word
  int64_t block() const { return words * numbers(); }
  int64_t depth() const { return blocks * block(); }
  int64_t group() const { return std::min(block(), kMostOfGroup); }
  int64_t groups() const { return depth() / group(); }
  int64_t group_words() const { return group() / numbers(); }
  // The bits of one layer.
  int64_t mask() const { return ((int64_t{1} << bits) - 1) * 0x01010101; }
};

// Packs bytes u8[columns, blocks, bytes of a block], whose low bits hold the
// first of their numbers, into panels of `columns` columns; those beyond the
// matrix are 0. A block fills whole words.
absl::StatusOr<Tensor> PackFewBits(const Tensor& bytes, int64_t bits,
                                   int64_t columns);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_FEW_BITS_H_
