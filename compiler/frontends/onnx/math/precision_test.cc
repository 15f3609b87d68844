// The types that results are computed in and given as, against numbers of
// double precision.
#include <cmath>
#include <limits>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/float16.h"

namespace ingot::onnx_frontend {
namespace {

Tensor Doubles(const std::vector<double>& values) {
  return MakeTestTensor<double>(DataType::Float(64),
                                {static_cast<int64_t>(values.size())}, values);
}

Tensor Halves(const std::vector<int64_t>& shape,
              const std::vector<float>& values) {
  std::vector<uint16_t> bits;
  for (float v : values) bits.push_back(FloatToHalf(v));
  return MakeTestTensor<uint16_t>(DataType::Float(16), shape, bits);
}

TEST(PrecisionTest, KnownDoublesStayDoubles) {
  const Tensor x = Doubles({0.0265079774, 3, 1e-40});
  const Tensor root = Outputs({"Sqrt"}, {Constant(x)})[0];
  const Tensor inverse = Outputs({"Reciprocal"}, {Constant(x)})[0];
  for (int i = 0; i < 3; ++i) {
    const double v = x.data<double>()[i];
    EXPECT_DOUBLE_EQ(root.data<double>()[i], std::sqrt(v));
    EXPECT_DOUBLE_EQ(inverse.data<double>()[i], 1 / v);
  }
}

// As the specification says of Clip's limits.
TEST(PrecisionTest, LimitsThatAreLeftOutAreTheTypesOwn) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const Tensor x = Floats({4}, {-INFINITY, INFINITY, 1, NAN});
  const auto expect = [](const Tensor& y, std::vector<float> want) {
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(y.data<float>()[i], want[i]) << i;
    }
    EXPECT_TRUE(std::isnan(y.data<float>()[3]));
  };
  const Operator clip{"Clip", "", 13};
  const Tensor half = Floats({}, {0.5});
  expect(Outputs(clip, {x, Constant(half)})[0], {0.5, kLargest, 1});
  expect(Outputs(clip, {x, LeftOut(), Constant(half)})[0],
         {-kLargest, 0.5, 0.5});
  expect(Outputs(clip, {x, half})[0], {0.5, kLargest, 1});
  expect(Outputs(clip, {x, LeftOut(), half})[0], {-kLargest, 0.5, 0.5});
  expect(Outputs(clip, {x})[0], {-kLargest, kLargest, 1});
  // The upper limit holds where the lower one is above it, whoever tells them.
  const Tensor three = Floats({}, {3}), two = Floats({}, {2});
  for (const bool low_known : {false, true}) {
    for (const bool high_known : {false, true}) {
      EXPECT_EQ(ValuesOf(Outputs(
                    clip, {Floats({2}, {1, 4}), Operand(three, low_known),
                           Operand(two, high_known)})[0]),
                std::vector<float>({2, 2}));
    }
  }
  const Operator old{"Clip", "", 6,
                     [](onnx::NodeProto* n) { SetFloat(n, "max", 0.5); }};
  expect(Outputs(old, {x})[0], {-kLargest, 0.5, 0.5});
  const Tensor low = MakeTestTensor<uint16_t>(DataType::Float(16), {1},
                                              {FloatToHalf(-INFINITY)});
  EXPECT_EQ(Outputs(clip, {low})[0].data<uint16_t>()[0], FloatToHalf(-65504));
}

TEST(PrecisionTest, StatisticsOfLayerNormalizationHaveTheStashType) {
  // 1, 2, 3, 6 in f16: the mean is 3, the variance 3.5.
  const Tensor x = MakeTestTensor<uint16_t>(DataType::Float(16), {1, 4},
                                            {0x3C00, 0x4000, 0x4200, 0x4600});
  const Tensor scale = MakeTestTensor<uint16_t>(
      DataType::Float(16), {4}, {0x3C00, 0x3C00, 0x3C00, 0x3C00});
  const std::vector<Tensor> out =
      Outputs({"LayerNormalization", "", 17,
               [](onnx::NodeProto* n) { SetFloat(n, "epsilon", 0); }, 3},
              {x, scale});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].dtype(), DataType::Float(16));
  ASSERT_EQ(out[1].dtype(), DataType::Float(32));
  ASSERT_EQ(out[2].dtype(), DataType::Float(32));
  EXPECT_FLOAT_EQ(out[1].data<float>()[0], 3);
  EXPECT_FLOAT_EQ(out[2].data<float>()[0],
                  static_cast<float>(1 / std::sqrt(3.5)));
}

TEST(PrecisionTest, ConstantsOfAnyInteger) {
  const auto value = [](onnx::NodeProto* n, onnx::TensorProto::DataType type,
                        const std::string& raw) {
    onnx::AttributeProto* a = n->add_attribute();
    a->set_name("value");
    a->set_type(onnx::AttributeProto::TENSOR);
    a->mutable_t()->add_dims(1);
    a->mutable_t()->set_data_type(type);
    a->mutable_t()->set_raw_data(raw);
  };
  const Operator largest{"ConstantOfShape", "", 21, [&](onnx::NodeProto* n) {
                           value(n, onnx::TensorProto::UINT64,
                                 std::string(8, '\xff'));
                         }};
  const Operator odd{"ConstantOfShape", "", 21, [&](onnx::NodeProto* n) {
                       value(n, onnx::TensorProto::INT64,
                             std::string("\x01\0\0\0\0\0\0\x40", 8));
                     }};
  EXPECT_THAT(
      Outputs(largest, {Constant(Longs({1}, {3}))})[0].values<uint64_t>(),
      testing::ElementsAre(UINT64_MAX, UINT64_MAX, UINT64_MAX));
  const Tensor scalar = Outputs(odd, {Constant(Longs({0}, {}))})[0];
  EXPECT_TRUE(scalar.shape().empty());
  EXPECT_EQ(scalar.data<int64_t>()[0], (int64_t{1} << 62) + 1);
}

// Numbers that no double holds are no attributes.
TEST(PrecisionTest, LargeIntegers) {
  constexpr int64_t kOdd = (int64_t{1} << 53) + 1;
  const Tensor odd = Longs({}, {kOdd}), x = Longs({2}, {1, 4 * kOdd});
  EXPECT_THAT(Outputs({"Clip", "", 13}, {x, LeftOut(), Constant(odd)})[0]
                  .values<int64_t>(),
              testing::ElementsAre(1, kOdd));
  EXPECT_THAT(Outputs({"Pad", "", 13},
                      {x, Constant(Longs({2}, {1, 0})), Constant(odd)})[0]
                  .values<int64_t>(),
              testing::ElementsAre(kOdd, 1, 4 * kOdd));
  EXPECT_THAT(Outputs({"Range", "", 11},
                      {Constant(odd), Constant(Longs({}, {kOdd + 2})),
                       Constant(Longs({}, {1}))})[0]
                  .values<int64_t>(),
              testing::ElementsAre(kOdd, kOdd + 1));
  const Tensor u =
      MakeTestTensor<uint64_t>(DataType::UInt(64), {}, {UINT64_MAX});
  EXPECT_THAT(Outputs({"Pad", "", 13},
                      {MakeTestTensor<uint64_t>(DataType::UInt(64), {1}, {5}),
                       Constant(Longs({2}, {0, 1})), Constant(u)})[0]
                  .values<uint64_t>(),
              testing::ElementsAre(5, UINT64_MAX));
}

TEST(PrecisionTest, PadsByNegativeZeros) {
  const Tensor x = Floats({1}, {1}), pads = Longs({2}, {0, 1});
  const Tensor zero = Floats({}, {-0.0f});
  for (const Operand& data : {Operand(x), Constant(x)}) {
    const Tensor y =
        Outputs({"Pad", "", 13}, {data, Constant(pads), Constant(zero)})[0];
    EXPECT_TRUE(std::signbit(y.data<float>()[1]));
  }
}

TEST(PrecisionTest, CompressByALongCondition) {
  constexpr int64_t kCount = 5000;  // more than is folded element by element
  std::vector<float> values(kCount), expected;
  Tensor condition = *Tensor::Empty(DataType::Bool(), {kCount});
  for (int64_t i = 0; i < kCount; ++i) {
    values[i] = static_cast<float>(i);
    condition.mutable_data<bool>()[i] = i % 7 == 3;
    if (i % 7 == 3) expected.push_back(values[i]);
  }
  ExpectNear(RunFloats({"Compress", "", 11},
                       {Floats({kCount}, values), Constant(condition)}),
             expected);
}

// ONNX's attributes are of 32 bits, their defaults included.
TEST(PrecisionTest, DefaultsOfDoublesAreFloats) {
  const Tensor x = MakeTestTensor<double>(DataType::Float(64), {1}, {-1});
  EXPECT_EQ(Outputs({"LeakyRelu", "", 16}, {x})[0].values<double>()[0],
            -static_cast<double>(0.01f));
}

// 1.1f - 0.1f is 1 when it is rounded to a float, and a little more before. So
// has ONNX's definition of the operator, its function, the count.
TEST(PrecisionTest, RangesCountInTheirOwnType) {
  const auto count = [](float start, float limit, float delta, bool known) {
    const auto scalar = [&](float v) {
      return Operand(Floats({}, {v}), known);
    };
    return RunFloats({"Range", "", 11},
                     {scalar(start), scalar(limit), scalar(delta)})
        .size();
  };
  for (const bool known : {false, true}) {
    EXPECT_EQ(count(0.1f, 1.1f, 0.1f, known), 10u);
    EXPECT_EQ(count(0, 0.3f, 0.1f, known), 3u);
    EXPECT_EQ(count(1, 0.4f, -0.3f, known), 2u);
    EXPECT_EQ(count(0, 2.5f, 1, known), 3u);
  }
}

// A target that does not count adds nothing, whatever the scores of the class
// that is looked at in its place.
TEST(PrecisionTest, LossesOfIgnoredTargets) {
  const Tensor scores = Floats({2, 2}, {-1, -2, -INFINITY, 0});
  for (const char* reduction : {"none", "sum", "mean"}) {
    const Operator op{"NegativeLogLikelihoodLoss", "", 13,
                      [reduction](onnx::NodeProto* n) {
                        SetString(n, "reduction", reduction);
                        SetInt(n, "ignore_index", -100);
                      }};
    const std::vector<float> loss =
        RunFloats(op, {scores, Longs({2}, {1, -100})});
    EXPECT_EQ(loss, reduction == std::string("none")
                        ? std::vector<float>({2, 0})
                        : std::vector<float>({2}))
        << reduction;
  }
}

// The running statistics have a type of their own, which holds the mean 2051.
TEST(PrecisionTest, TrainingOfHalvesWithFloatStatistics) {
  const Operator op{"BatchNormalization", "", 15,
                    [](onnx::NodeProto* n) { SetInt(n, "training_mode", 1); },
                    3};
  const std::vector<Tensor> out = Outputs(
      op, {Halves({2, 1, 2}, {2048, 2050, 2052, 2054}), Halves({1}, {1}),
           Halves({1}, {0}), Floats({1}, {10}), Floats({1}, {20})});
  EXPECT_EQ(out[0].dtype(), DataType::Float(16));
  ExpectNear(ValuesOf(out[1]), {10 * 0.9f + 2051 * 0.1f});
  ExpectNear(ValuesOf(out[2]), {20 * 0.9f + 5 * 0.1f});
}

// The same as an input, and longer than the operand.
TEST(PrecisionTest, CompressIgnoresWhatIsBeyondTheEnd) {
  Tensor condition = *Tensor::Empty(DataType::Bool(), {5});
  for (int i = 0; i < 5; ++i) condition.mutable_data<bool>()[i] = i != 1;
  ExpectNear(
      RunFloats({"Compress", "", 11}, {Floats({3}, {1, 2, 3}), condition}),
      {1, 3});
}

// Beyond 2^53, where doubles round, and wrapping, as products do.
TEST(PrecisionTest, KnownPowersOfIntegersAreExact) {
  const Operator pow{"Pow", "", 15};
  const auto expect = [&](const std::vector<int64_t>& x, const Tensor& exponent,
                          const std::vector<int64_t>& want) {
    const auto n = static_cast<int64_t>(x.size());
    const Tensor y = Outputs(pow, {Longs({n}, x), Constant(exponent)})[0];
    EXPECT_THAT(y.values<int64_t>(), testing::ElementsAreArray(want));
  };
  const int64_t large = (int64_t{1} << 53) + 1;
  expect({large, -3}, Longs({}, {0}), {1, 1});
  expect({large, -large}, Longs({1}, {1}), {large, -large});
  expect({large, -7}, Longs({}, {2}), {large + (int64_t{1} << 53), 49});
  expect({2097151, -2097151}, Floats({}, {3}),
         {9223358842721533951, -9223358842721533951});
  expect({3, -3, 1}, Longs({}, {39}),
         {4052555153018976267, -4052555153018976267, 1});
  expect({1, -1}, Longs({}, {-1}), {1, -1});
  const Tensor x = MakeTestTensor<int32_t>(DataType::Int(32), {1}, {65537});
  const Tensor y = Outputs(pow, {x, Constant(Longs({}, {2}))})[0];
  EXPECT_EQ(y.data<int32_t>()[0], 131073);
  // The exponent's dimensions are the result's.
  const Tensor row =
      Outputs(pow, {Longs({2}, {3, large}), Constant(Longs({1, 1}, {1}))})[0];
  EXPECT_THAT(row.shape(), testing::ElementsAre(1, 2));
}

// Of halves whose sum is none: 60,000 and 50,000.
TEST(PrecisionTest, MeansFitWhereSumsDoNot) {
  const Tensor mean = Outputs(
      {"Mean", "", 13},
      {Halves({1}, {60000}), Halves({1}, {50000}), Halves({1}, {60000})})[0];
  ASSERT_EQ(mean.dtype(), DataType::Float(16));
  EXPECT_EQ(mean.data<uint16_t>()[0], FloatToHalf(170000.0f / 3));
}

// Squares of deviations of 300 are no halves, nor is the 1e-9 that keeps equal
// elements from being divided by 0.
TEST(PrecisionTest, MeanVarianceOfHalvesIsComputedInFloats) {
  const Tensor y = Outputs({"MeanVarianceNormalization", "", 13},
                           {Halves({1, 2, 1, 2}, {-300, 300, 5, 5})})[0];
  ASSERT_EQ(y.dtype(), DataType::Float(16));
  std::vector<float> values;
  for (const uint16_t bits : y.values<uint16_t>()) {
    values.push_back(HalfToFloat(bits));
  }
  EXPECT_THAT(values, testing::ElementsAre(-1, 1, 0, 0));
}

// Alpha brings a product into the halves' range.
TEST(PrecisionTest, ScaledProductsOfHalvesFit) {
  const Operator gemm{"Gemm", "", 13,
                      [](onnx::NodeProto* n) { SetFloat(n, "alpha", 0.25); }};
  const Tensor x = Halves({1, 2}, {300, 300}), w = Halves({2, 1}, {300, 300});
  const Tensor y = Outputs(gemm, {x, Constant(w), Halves({1}, {32})})[0];
  ASSERT_EQ(y.dtype(), DataType::Float(16));
  EXPECT_EQ(y.data<uint16_t>()[0], FloatToHalf(45032));
}

// 70,000 targets are more than a half can say.
TEST(PrecisionTest, MeanLossesOfManyHalvesFit) {
  constexpr int64_t kTargets = 70000;
  const Operator op{"NegativeLogLikelihoodLoss", "", 13,
                    [](onnx::NodeProto* n) { SetInt(n, "ignore_index", 1); }};
  const Tensor loss =
      Outputs(op, {Halves({1, 1, kTargets}, std::vector<float>(kTargets, -2)),
                   Longs({1, kTargets}, std::vector<int64_t>(kTargets, 0))})[0];
  ASSERT_EQ(loss.dtype(), DataType::Float(16));
  EXPECT_EQ(HalfToFloat(loss.data<uint16_t>()[0]), 2);
}

}  // namespace
}  // namespace ingot::onnx_frontend
