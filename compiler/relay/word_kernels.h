// Kernels of convolutions of bytes, as registers of tiles read them.
#ifndef INGOT_COMPILER_RELAY_WORD_KERNELS_H_
#define INGOT_COMPILER_RELAY_WORD_KERNELS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "runtime/tensor.h"

namespace ingot::relay {

struct WordKernels {
  static constexpr int64_t kRow = 64;      // input channels of a step
  static constexpr int64_t kWords = 16;    // of a step
  static constexpr int64_t kColumns = 16;  // output channels of a panel
};

// Packs kernels of i8, OIHW, as words i32[ceil(o / 16), steps, 16, 16]: the
// steps are, for 64 input channels after the other, the taps in order; element
// [p, s, w, c] has the input channels 4w to 4w + 3 of the step for the output
// channel 16p + c, the first in the lowest byte. Zeros beyond the channels.
// ResourceExhausted where memory runs out.
absl::StatusOr<Tensor> PackWordKernels(const Tensor& w);

// How the taps of a row of a depthwise kernel are words of four neighbours:
// word r begins at tap r * step. Where that is not a multiple of four, words
// share taps, which have a weight in the first of these alone; the taps beyond
// a row of fewer than four are its last one again, without a weight.
struct TapWords {
  int64_t count, step;
};

// None where that is no even step.
std::optional<TapWords> TapWordsOf(int64_t taps);

// Packs kernels of i8, [c, 1, h, w], as words i32[c, 1, h, TapWordsOf(w)].
// ResourceExhausted where memory runs out.
absl::StatusOr<Tensor> PackTapWords(const Tensor& w);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_WORD_KERNELS_H_
