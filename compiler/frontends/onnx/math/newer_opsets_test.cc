// Changes and additions of operator sets 18 to 23, with numbers that are worked
// out by hand or by the specification's formula. ONNX's own cases, which other
// tests run, go up to operator set 17.
#include <cmath>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using testing::ElementsAre;
using Node = onnx::NodeProto;

Tensor Bools(const std::vector<int64_t>& shape, const std::vector<int>& v) {
  Tensor t = *Tensor::Empty(DataType::Bool(), shape);
  for (size_t i = 0; i < v.size(); ++i) t.mutable_data<bool>()[i] = v[i] != 0;
  return t;
}

TEST(NewerOpsetsTest, Bitwise18) {
  const Tensor a = Bytes({3}, {0b1100, 0xff, 0}),
               b = Bytes({3}, {0b1010, 15, 1});
  EXPECT_THAT(Outputs({"BitwiseAnd"}, {a, b})[0].values<uint8_t>(),
              ElementsAre(0b1000, 15, 0));
  EXPECT_THAT(Outputs({"BitwiseOr"}, {a, b})[0].values<uint8_t>(),
              ElementsAre(0b1110, 0xff, 1));
  EXPECT_THAT(Outputs({"BitwiseXor"}, {a, b})[0].values<uint8_t>(),
              ElementsAre(0b0110, 0xf0, 1));
  EXPECT_THAT(Outputs({"BitwiseNot"}, {a})[0].values<uint8_t>(),
              ElementsAre(0xf3, 0, 0xff));
}

TEST(NewerOpsetsTest, SplitInto18) {
  // The last part is the smaller one.
  const Operator op{"Split", "", 18,
                    [](Node* n) { SetInt(n, "num_outputs", 3); }, 3};
  const std::vector<Tensor> parts = Outputs(op, {Longs({5}, {1, 2, 3, 4, 5})});
  EXPECT_THAT(parts[0].values<int64_t>(), ElementsAre(1, 2));
  EXPECT_THAT(parts[1].values<int64_t>(), ElementsAre(3, 4));
  EXPECT_THAT(parts[2].values<int64_t>(), ElementsAre(5));
}

TEST(NewerOpsetsTest, PadAxes18AndWrap19) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Operand one_axis = Constant(Longs({1}, {-1}));
  ExpectNear(RunFloats({"Pad", "", 18}, {x, Constant(Longs({2}, {1, 0})),
                                         Constant(Floats({}, {9})), one_axis}),
             {9, 1, 2, 3, 9, 4, 5, 6});
  const Operator wrap{"Pad", "", 19,
                      [](Node* n) { SetString(n, "mode", "wrap"); }};
  ExpectNear(
      RunFloats(wrap, {x, Constant(Longs({2}, {2, 1})), LeftOut(), one_axis}),
      {2, 3, 1, 2, 3, 1, 5, 6, 4, 5, 6, 4});
  // Elements are removed first: it wraps around what is left.
  ExpectNear(
      RunFloats(wrap, {x, Constant(Longs({2}, {2, -1})), LeftOut(), one_axis}),
      {1, 2, 1, 2, 4, 5, 4, 5});
}

TEST(NewerOpsetsTest, ScatterExtremes18) {
  const Tensor x = Floats({4}, {1, 5, 3, 7});
  const Tensor at = Longs({4}, {0, 0, 2, 3}),
               updates = Floats({4}, {4, 2, 1, 9});
  auto reduction = [](const char* name) {
    return [name](Node* n) { SetString(n, "reduction", name); };
  };
  ExpectNear(RunFloats({"ScatterElements", "", 18, reduction("max")},
                       {x, at, updates}),
             {4, 5, 3, 9});
  ExpectNear(RunFloats({"ScatterND", "", 18, reduction("min")},
                       {x, Longs({4, 1}, {0, 0, 2, 3}), updates}),
             {1, 5, 1, 7});
  // A product of bools is "and".
  EXPECT_THAT(Outputs({"ScatterElements", "", 18, reduction("mul")},
                      {Bools({3}, {1, 1, 0}), Longs({3}, {0, 1, 2}),
                       Bools({3}, {1, 0, 1})})[0]
                  .values<bool>(),
              ElementsAre(true, false, false));
}

TEST(NewerOpsetsTest, ReductionsTakeAxesAsInput18) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Operator mean{"ReduceMean", "", 18,
                      [](Node* n) { SetInt(n, "keepdims", 0); }};
  ExpectNear(RunFloats(mean, {x, Constant(Longs({1}, {1}))}), {2, 5});
  const Operator noop{"ReduceSum", "", 18,
                      [](Node* n) { SetInt(n, "noop_with_empty_axes", 1); }};
  ExpectNear(RunFloats(noop, {x, Constant(Longs({0}, {}))}), ValuesOf(x));
  const Tensor known = Longs({3}, {4, 2, 3});
  const Operator least{"ReduceMin", "", 18,
                       [](Node* n) { SetInt(n, "noop_with_empty_axes", 1); }};
  EXPECT_THAT(Outputs(least, {Constant(known)})[0].values<int64_t>(),
              ElementsAre(4, 2, 3));
}

// The logarithm of 3 + 5 is 2.08, that of e + e^2 2.31.
TEST(NewerOpsetsTest, LogarithmsOfIntegers) {
  EXPECT_THAT(Outputs({"ReduceLogSum", "", 18}, {Longs({2}, {3, 5})})[0]
                  .values<int64_t>(),
              ElementsAre(2));
  EXPECT_THAT(Outputs({"ReduceLogSumExp", "", 18}, {Longs({2}, {1, 2})})[0]
                  .values<int64_t>(),
              ElementsAre(2));
}

// Their sums fit no i32; numpy says 69282 and 2000000000.
TEST(NewerOpsetsTest, RootsAndMeansOfLargeIntegers) {
  const auto of = [](const char* op, const std::vector<int32_t>& values) {
    const Tensor x = MakeTestTensor<int32_t>(DataType::Int(32), {3}, values);
    return Outputs({op, "", 18}, {x})[0].values<int32_t>()[0];
  };
  EXPECT_EQ(of("ReduceL2", {40000, -40000, 40000}), 69282);
  EXPECT_EQ(of("ReduceMean", {2000000000, 2000000001, 1999999999}), 2000000000);
}

TEST(NewerOpsetsTest, AnyAndAll20) {
  const Tensor x = Bools({2, 2}, {1, 0, 1, 1});
  const Operand rows = Constant(Longs({1}, {1}));
  const Operator any{"ReduceMax", "", 20,
                     [](Node* n) { SetInt(n, "keepdims", 0); }};
  const Operator all{"ReduceMin", "", 20,
                     [](Node* n) { SetInt(n, "keepdims", 0); }};
  EXPECT_THAT(Outputs(any, {x, rows})[0].values<bool>(),
              ElementsAre(true, true));
  EXPECT_THAT(Outputs(all, {x, rows})[0].values<bool>(),
              ElementsAre(false, true));
}

TEST(NewerOpsetsTest, DftAxisIsAnInput20) {
  // Four samples of a cosine of one turn, in the second column; the first
  // column is constant.
  const Tensor x = Floats({1, 4, 2, 1}, {1, 1, 1, 0, 1, -1, 1, 0});
  const std::vector<float> y =
      RunFloats({"DFT", "", 20}, {x, LeftOut(), Constant(Longs({}, {1}))});
  // [1, 4, 2, 2]: (4, 0), then zeros; and 2 at frequencies 1 and 3.
  ExpectNear(y, {4, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0});
}

TEST(NewerOpsetsTest, Activations) {
  const Tensor x = Floats({4}, {-2, -0.5f, 0, 3});
  std::vector<float> mish, gelu, tanh_gelu;
  for (double v : {-2.0, -0.5, 0.0, 3.0}) {
    mish.push_back(static_cast<float>(v * std::tanh(std::log1p(std::exp(v)))));
    gelu.push_back(
        static_cast<float>(0.5 * v * (1 + std::erf(v / std::sqrt(2.0)))));
    tanh_gelu.push_back(static_cast<float>(
        0.5 * v *
        (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)))));
  }
  ExpectNear(RunFloats({"Mish", "", 18}, {x}), mish);
  ExpectNear(RunFloats({"Gelu", "", 20}, {x}), gelu);
  ExpectNear(RunFloats({"Gelu", "", 20,
                        [](Node* n) { SetString(n, "approximate", "tanh"); }},
                       {x}),
             tanh_gelu);
}

TEST(NewerOpsetsTest, GroupNormalizationScalesChannelsSince21) {
  const Tensor x = Floats({1, 4, 1, 2}, {1, 3, 5, 7, -1, -3, 0, 0});
  auto normalized = [&](const std::vector<float>& scale,
                        const std::vector<float>& bias) {
    std::vector<float> y;
    for (int group = 0; group < 2; ++group) {
      double mean = 0, square = 0;
      for (int i = 0; i < 4; ++i) mean += ValuesOf(x)[group * 4 + i] / 4;
      for (int i = 0; i < 4; ++i) {
        square += std::pow(ValuesOf(x)[group * 4 + i] - mean, 2) / 4;
      }
      for (int i = 0; i < 4; ++i) {
        const int channel = group * 2 + i / 2;
        y.push_back(static_cast<float>((ValuesOf(x)[group * 4 + i] - mean) /
                                           std::sqrt(square + 1e-2) *
                                           scale[channel] +
                                       bias[channel]));
      }
    }
    return y;
  };
  auto groups = [](Node* n) {
    SetInt(n, "num_groups", 2);
    SetFloat(n, "epsilon", 1e-2f);
  };
  ExpectNear(RunFloats({"GroupNormalization", "", 18, groups},
                       {x, Floats({2}, {2, 3}), Floats({2}, {0, 1})}),
             normalized({2, 2, 3, 3}, {0, 0, 1, 1}));
  ExpectNear(
      RunFloats({"GroupNormalization", "", 21, groups},
                {x, Floats({4}, {1, 2, 3, 4}), Floats({4}, {4, 3, 2, 1})}),
      normalized({1, 2, 3, 4}, {4, 3, 2, 1}));
  // Scales tell the number of channels, where the operand does not.
  const Operator op{"GroupNormalization", "", 21, groups};
  ExpectNear(RunFloats(op, {Symbolic(x), Floats({4}, {1, 2, 3, 4}),
                            Floats({4}, {4, 3, 2, 1})}),
             normalized({1, 2, 3, 4}, {4, 3, 2, 1}));
  EXPECT_FALSE(RunOperator(op, {Symbolic(x), Floats({6}, {1, 2, 3, 4, 5, 6}),
                                Floats({6}, {4, 3, 2, 1, 0, 0})})
                   .ok());
  EXPECT_THAT(
      RunOperator({"GroupNormalization", "", 18, groups},
                  {Symbolic(x), Floats({2}, {2, 3}), Floats({2}, {0, 1})})
          .status()
          .message(),
      testing::HasSubstr("number of channels"));
}

TEST(NewerOpsetsTest, RmsNormalization23) {
  const Tensor x = RandomFloats({2, 3}, 1), scale = RandomFloats({3}, 2);
  std::vector<float> expected;
  for (int row = 0; row < 2; ++row) {
    double square = 1e-3;
    for (int i = 0; i < 3; ++i)
      square += std::pow(ValuesOf(x)[row * 3 + i], 2) / 3;
    for (int i = 0; i < 3; ++i) {
      expected.push_back(static_cast<float>(
          ValuesOf(x)[row * 3 + i] / std::sqrt(square) * ValuesOf(scale)[i]));
    }
  }
  ExpectNear(RunFloats({"RMSNormalization", "", 23,
                        [](Node* n) { SetFloat(n, "epsilon", 1e-3f); }},
                       {x, scale}),
             expected);
}

// Scales for blocks of two; the last block of a row has one element.
TEST(NewerOpsetsTest, QuantizeByBlocks21) {
  const Tensor x = Floats({2, 3}, {1, -2, 3, 40, 50, 60});
  const Tensor scale = Floats({2, 2}, {0.5f, 1, 10, 20});
  const Tensor zero = Bytes({2, 2}, {10, 0, 1, 2});
  auto blocks = [](Node* n) {
    SetInt(n, "axis", -1);
    SetInt(n, "block_size", 2);
  };
  const Tensor q =
      Outputs({"QuantizeLinear", "", 21, blocks}, {x, scale, zero})[0];
  EXPECT_THAT(q.values<uint8_t>(), ElementsAre(12, 6, 3, 5, 6, 5));
  ExpectNear(RunFloats({"DequantizeLinear", "", 21, blocks}, {q, scale, zero}),
             ValuesOf(x));
  // A block size that does not fit the scales.
  EXPECT_TRUE(absl::IsInvalidArgument(
      RunOperator({"DequantizeLinear", "", 21,
                   [](Node* n) { SetInt(n, "block_size", 3); }},
                  {q, scale, zero})
          .status()));
}

TEST(NewerOpsetsTest, OptionalOfATensor18) {
  // Since operator set 18 a tensor itself may be asked.
  EXPECT_THAT(Outputs({"OptionalHasElement", "", 18}, {Floats({1}, {1})})[0]
                  .values<bool>(),
              ElementsAre(true));
  ExpectNear(RunFloats({"OptionalGetElement", "", 18}, {Floats({2}, {1, 2})}),
             {1, 2});
}

}  // namespace
}  // namespace ingot::onnx_frontend
