#include "compiler/relay/bf16_parts.h"

#include <cmath>

#include "gtest/gtest.h"
#include "runtime/float16.h"

namespace ingot::relay {
namespace {

// The sum of the parts of element [row, column].
double Sum(const Tensor& packed, const Bf16Panels& panels, int64_t row,
           int64_t column) {
  const std::vector<int64_t> shape = panels.shape();
  double sum = 0;
  for (int64_t part = 0; part < panels.parts; ++part) {
    int64_t at = column / 16;
    at = at * shape[1] + row / 32;
    at = at * panels.parts + part;
    at = at * 16 + row % 32 / 2;
    at = at * 16 + column % 16;
    at = at * 2 + row % 2;
    sum += BFloat16ToFloat(packed.data<uint16_t>()[at]);
  }
  return sum;
}

TEST(Bf16Parts, AddUpToTheNumber) {
  const int64_t rows = 37, columns = 21;
  Tensor w = *Tensor::Empty(DataType::Float(32), {columns, rows});
  for (int64_t i = 0; i < w.NumElements(); ++i) {
    w.mutable_data<float>()[i] = std::sin(static_cast<float>(i)) * 1000;
  }
  for (const int64_t parts : {1, 2, 3}) {
    const Bf16Panels panels = {rows, columns, parts};
    const Tensor packed = *PackBf16Panels(w, panels, 1, rows);
    EXPECT_EQ(packed.shape(), panels.shape());
    // Half a unit in the last of 8 digits for each part; all 24 for three.
    const double relative = parts == 3 ? 0 : std::ldexp(1, -8 * parts);
    for (int64_t column = 0; column < 32; ++column) {
      for (int64_t row = 0; row < 64; ++row) {
        const bool inside = row < rows && column < columns;
        const double number =
            inside ? w.data<float>()[column * rows + row] : 0.0;
        EXPECT_NEAR(Sum(packed, panels, row, column), number,
                    relative * std::fabs(number))
            << row << " " << column;
      }
    }
  }
}

}  // namespace
}  // namespace ingot::relay
