#include "compiler/relay/word_kernels.h"

#include <algorithm>

#include "base/status_macros.h"

namespace ingot::relay {

absl::StatusOr<Tensor> PackWordKernels(const Tensor& w) {
  using K = WordKernels;
  const int64_t out = w.shape()[0], in = w.shape()[1],
                taps = w.shape()[2] * w.shape()[3];
  const int64_t panels = (out + K::kColumns - 1) / K::kColumns;
  const int64_t steps = (in + K::kRow - 1) / K::kRow * taps;
  INGOT_ASSIGN_OR_RETURN(
      Tensor packed, Tensor::Empty(DataType::Int(32),
                                   {panels, steps, K::kWords, K::kColumns}));
  auto* to = packed.mutable_data<int32_t>();
  std::fill_n(to, packed.NumElements(), 0);
  const auto* from = w.data<int8_t>();
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t i = 0; i < in; ++i) {
      const int64_t lane = i % K::kRow;
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t step = i / K::kRow * taps + tap;
        const int64_t row =
            (o / K::kColumns * steps + step) * K::kWords + lane / 4;
        const auto byte = static_cast<uint8_t>(from[(o * in + i) * taps + tap]);
        to[row * K::kColumns + o % K::kColumns] |=
            static_cast<int32_t>(uint32_t{byte} << (8 * (lane % 4)));
      }
    }
  }
  return packed;
}

std::optional<TapWords> TapWordsOf(int64_t taps) {
  const int64_t count = (taps + 3) / 4;
  if (count <= 1) return TapWords{count, 4};
  if ((taps - 4) % (count - 1) != 0) return std::nullopt;
  return TapWords{count, (taps - 4) / (count - 1)};
}

absl::StatusOr<Tensor> PackTapWords(const Tensor& w) {
  const int64_t taps = w.shape()[3];
  const TapWords words = *TapWordsOf(taps);
  INGOT_ASSIGN_OR_RETURN(
      Tensor packed,
      Tensor::Empty(DataType::Int(32),
                    {w.shape()[0], w.shape()[1], w.shape()[2], words.count}));
  auto* to = packed.mutable_data<int32_t>();
  std::fill_n(to, packed.NumElements(), 0);
  const auto* from = w.data<int8_t>();
  for (int64_t row = 0; row < w.NumElements() / taps; ++row) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      // The first word that ends at the tap or behind it.
      const int64_t word =
          (std::max<int64_t>(tap - 3, 0) + words.step - 1) / words.step;
      const auto byte = static_cast<uint8_t>(from[row * taps + tap]);
      to[row * words.count + word] |= static_cast<int32_t>(
          uint32_t{byte} << (8 * (tap - word * words.step)));
    }
  }
  return packed;
}

}  // namespace ingot::relay
