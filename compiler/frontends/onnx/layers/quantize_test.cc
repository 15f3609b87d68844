// Products of integer matrices with scales and zero points of rows, columns and
// stacks, against plain loops.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using testing::ElementsAreArray;
using Shape = std::vector<int64_t>;

constexpr int kStacks = 2, kRows = 3, kDepth = 4, kColumns = 5;

// Whether the parameters of `a` run along rows or those of `b` along columns,
// and whether they differ from matrix to matrix of a stack.
struct Params {
  bool rows, columns, stacks;
};

int Count(const Params& p, bool along, int extent) {
  return (p.stacks ? kStacks : 1) * (along ? extent : 1);
}

// The parameter of row or column `i` in matrix `s`.
int At(const Params& p, bool along, int extent, int s, int i) {
  return (p.stacks ? s * (along ? extent : 1) : 0) + (along ? i : 0);
}

std::vector<float> Scales(int count, float first) {
  std::vector<float> scales;
  for (int i = 0; i < count; ++i) {
    scales.push_back(std::ldexp(first, -(i % 3)));
  }
  return scales;
}

std::vector<uint8_t> Zeros(int count, int first) {
  std::vector<uint8_t> zeros;
  for (int i = 0; i < count; ++i) {
    zeros.push_back(static_cast<uint8_t>(first + 7 * i));
  }
  return zeros;
}

std::vector<uint8_t> Matrix(int count, int step) {
  std::vector<uint8_t> elements;
  for (int i = 0; i < count; ++i) {
    elements.push_back(static_cast<uint8_t>(i * step + 11));
  }
  return elements;
}

// Runs QLinearMatMul of operands and parameters in these shapes.
void Check(const Params& p, const Shape& lead, const Shape& a_params,
           const Shape& b_params) {
  const int stacks = lead.empty() ? 1 : kStacks;
  const std::vector<uint8_t> a = Matrix(stacks * kRows * kDepth, 37);
  const std::vector<uint8_t> b = Matrix(stacks * kDepth * kColumns, 91);
  const std::vector<float> a_scale = Scales(Count(p, p.rows, kRows), 0.5f);
  const std::vector<float> b_scale = Scales(Count(p, p.columns, kColumns), 1);
  const std::vector<uint8_t> a_zero = Zeros(Count(p, p.rows, kRows), 100);
  const std::vector<uint8_t> b_zero = Zeros(Count(p, p.columns, kColumns), 120);
  constexpr float kScale = 256;
  constexpr int kZero = 128;
  std::vector<int> expected;
  for (int s = 0; s < stacks; ++s) {
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kColumns; ++j) {
        const int row = At(p, p.rows, kRows, s, i);
        const int column = At(p, p.columns, kColumns, s, j);
        int sum = 0;
        for (int k = 0; k < kDepth; ++k) {
          sum += (a[(s * kRows + i) * kDepth + k] - a_zero[row]) *
                 (b[(s * kDepth + k) * kColumns + j] - b_zero[column]);
        }
        const double real = sum * double{a_scale[row]} * b_scale[column];
        const int rounded = static_cast<int>(std::nearbyint(real / kScale));
        expected.push_back(std::clamp(rounded + kZero, 0, 255));
      }
    }
  }
  auto shaped = [&](int64_t rows, int64_t columns) {
    Shape shape = lead;
    shape.insert(shape.end(), {rows, columns});
    return shape;
  };
  const Tensor y =
      Outputs({"QLinearMatMul", "", 21},
              {Bytes(shaped(kRows, kDepth), a), Floats(a_params, a_scale),
               Bytes(a_params, a_zero), Bytes(shaped(kDepth, kColumns), b),
               Floats(b_params, b_scale), Bytes(b_params, b_zero),
               Floats({}, {kScale}), Bytes({}, {kZero})})[0];
  EXPECT_THAT(y.values<uint8_t>(), ElementsAreArray(expected));
}

TEST(QLinearMatMulTest, ParametersOfRowsAndColumns) {
  Check({false, false, false}, {}, {}, {1});
  Check({true, false, false}, {}, {kRows}, {});
  Check({false, true, false}, {}, {1}, {kColumns});
  Check({true, true, false}, {}, {kRows}, {kColumns});
  Check({true, true, false}, {kStacks}, {kRows}, {kColumns});
}

TEST(QLinearMatMulTest, ParametersOfEachMatrixOfAStack) {
  Check({true, true, true}, {kStacks}, {kStacks, kRows, 1},
        {kStacks, 1, kColumns});
  Check({false, true, true}, {kStacks}, {kStacks, 1, 1},
        {kStacks, 1, kColumns});
  Check({true, false, true}, {1, kStacks}, {1, kStacks, kRows, 1},
        {1, kStacks, 1, 1});
}

TEST(MatMulIntegerTest, ZeroPointsOfEachMatrixOfAStack) {
  // (1 - 1, 2 - 1) (3 - 3, 5 - 3) and (4 - 2, 4 - 2) (6 - 5, 7 - 5).
  EXPECT_THAT(
      Outputs({"MatMulInteger", "", 10},
              {Bytes({2, 1, 2}, {1, 2, 4, 4}), Bytes({2, 2, 1}, {3, 5, 6, 7}),
               Bytes({2, 1, 1}, {1, 2}), Bytes({2, 1, 1}, {3, 5})})[0]
          .values<int32_t>(),
      testing::ElementsAre(2, 6));
}

}  // namespace
}  // namespace ingot::onnx_frontend
