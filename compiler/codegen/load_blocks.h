// Loads that are a transposition together: the lanes of each are far apart in
// memory, and those of the next load are their neighbours there.
#ifndef INGOT_COMPILER_CODEGEN_LOAD_BLOCKS_H_
#define INGOT_COMPILER_CODEGEN_LOAD_BLOCKS_H_

#include <cstddef>
#include <map>
#include <vector>

#include "absl/types/span.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// A block of memory of so many `rows`, which are `stride` elements apart, and
// of columns.size() neighbours in each row. The loads of a column have one
// element of each row in their lanes.
struct LoadBlock {
  const tir::BufferNode* buffer;
  tir::Expr base;  // the offset of the first row's first element
  tir::Expr stride;
  int rows;
  // Which of the rows may be loaded, in lanes; null: all.
  tir::Expr guard;
  // Each column's loads, at least one.
  std::vector<std::vector<const tir::Load*>> columns;
};

// Returns the blocks that `stores` load, none of which overlap, by the numbers
// of the stores that load of them first. Where a block is first loaded, all of
// its rows that may be loaded have their values: nothing stores to them. The
// numbers of rows and columns are powers of 2 and at least 2, and a row has at
// most `most_row_bits` bits.
std::multimap<size_t, LoadBlock> FindLoadBlocks(
    absl::Span<const tir::Store* const> stores, const tir::Bounds& bounds,
    int most_row_bits);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LOAD_BLOCKS_H_
