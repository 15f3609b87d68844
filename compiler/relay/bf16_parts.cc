#include "compiler/relay/bf16_parts.h"

#include <algorithm>

#include "base/status_macros.h"
#include "runtime/float16.h"

namespace ingot::relay {

absl::StatusOr<Tensor> PackBf16Panels(const Tensor& w, const Bf16Panels& panels,
                                      int64_t row_stride,
                                      int64_t column_stride) {
  INGOT_ASSIGN_OR_RETURN(Tensor packed,
                         Tensor::Empty(DataType::BFloat16(), panels.shape()));
  auto* to = packed.mutable_data<uint16_t>();
  std::fill_n(to, packed.NumElements(), uint16_t{0});
  const auto* from = w.data<float>();
  const std::vector<int64_t> shape = panels.shape();
  const int64_t of_part = Bf16Panels::kRow / Bf16Panels::kPair *
                          Bf16Panels::kColumns * Bf16Panels::kPair;
  for (int64_t column = 0; column < panels.columns; ++column) {
    for (int64_t row = 0; row < panels.rows; ++row) {
      const int64_t panel = column / Bf16Panels::kColumns,
                    step = row / Bf16Panels::kRow,
                    pair = row % Bf16Panels::kRow / Bf16Panels::kPair;
      uint16_t* at =
          to + (panel * shape[1] + step) * panels.parts * of_part +
          (pair * Bf16Panels::kColumns + column % Bf16Panels::kColumns) *
              Bf16Panels::kPair +
          row % Bf16Panels::kPair;
      float left = from[row * row_stride + column * column_stride];
      for (int64_t part = 0; part < panels.parts; ++part) {
        at[part * of_part] = FloatToBFloat16(left);
        left -= BFloat16ToFloat(at[part * of_part]);
      }
    }
  }
  return packed;
}

absl::StatusOr<Tensor> PackBf16Kernels(const Tensor& w, int64_t parts) {
  const int64_t out = w.shape()[0], in = w.shape()[1],
                taps = w.shape()[2] * w.shape()[3];
  const int64_t steps = (in + Bf16Panels::kRow - 1) / Bf16Panels::kRow;
  const int64_t rows = steps * taps * Bf16Panels::kRow;
  INGOT_ASSIGN_OR_RETURN(Tensor matrix, Tensor::Empty(w.dtype(), {out, rows}));
  auto* to = matrix.mutable_data<float>();
  std::fill_n(to, matrix.NumElements(), 0.0f);
  const auto* from = w.data<float>();
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t i = 0; i < in; ++i) {
      const int64_t step = i / Bf16Panels::kRow, lane = i % Bf16Panels::kRow;
      for (int64_t tap = 0; tap < taps; ++tap) {
        to[o * rows + (step * taps + tap) * Bf16Panels::kRow + lane] =
            from[(o * in + i) * taps + tap];
      }
    }
  }
  return PackBf16Panels(matrix, {rows, out, parts}, 1, rows);
}

}  // namespace ingot::relay
