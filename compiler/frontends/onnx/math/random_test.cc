// Random operators by what is known of them: ranges, moments and frequencies,
// within five standard deviations of what they are expected to be. They follow
// from a fixed seed here, so that a test passes always or never.
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Lt;
using Node = onnx::NodeProto;
using Setter = std::function<void(Node*)>;

constexpr int64_t kMany = 4000;

Tensor Filled(const std::vector<int64_t>& shape, float value) {
  Tensor t = *Tensor::Empty(DataType::Float(32), shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.mutable_data<float>()[i] = value;
  }
  return t;
}

Tensor Flag(bool value) {
  Tensor t = *Tensor::Empty(DataType::Bool(), {});
  t.mutable_data<bool>()[0] = value;
  return t;
}

double Mean(const std::vector<float>& v) {
  double sum = 0;
  for (float x : v) sum += x;
  return sum / static_cast<double>(v.size());
}

double Deviation(const std::vector<float>& v) {
  const double mean = Mean(v);
  double sum = 0;
  for (float x : v) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(v.size()));
}

Setter Shaped(Setter more = nullptr) {
  return [more](Node* n) {
    SetInts(n, "shape", {40, kMany / 40});
    if (more) more(n);
  };
}

TEST(RandomTest, Uniform) {
  const Operator op{"RandomUniform", "", 1, Shaped([](Node* n) {
                      SetFloat(n, "low", -2);
                      SetFloat(n, "high", 4);
                    })};
  const std::vector<float> v = RunFloats(op, {});
  ASSERT_EQ(v.size(), kMany);
  EXPECT_THAT(v, Each(Ge(-2)));
  EXPECT_THAT(v, Each(Lt(4)));
  EXPECT_NEAR(Mean(v), 1, 5 * 6 / std::sqrt(12.0 * kMany));
  EXPECT_NEAR(Deviation(v), 6 / std::sqrt(12.0), 0.1);
  EXPECT_GT(std::set<float>(v.begin(), v.end()).size(), kMany - 10);
}

TEST(RandomTest, Normal) {
  const Operator op{"RandomNormalLike", "", 22, [](Node* n) {
                      SetFloat(n, "mean", 3);
                      SetFloat(n, "scale", 0.5);
                    }};
  const std::vector<float> v = RunFloats(op, {Filled({kMany}, 0)});
  EXPECT_NEAR(Mean(v), 3, 5 * 0.5 / std::sqrt(double{kMany}));
  EXPECT_NEAR(Deviation(v), 0.5, 5 * 0.5 / std::sqrt(2.0 * kMany));
  // 4.55 % are expected beyond two deviations.
  int beyond = 0;
  for (float x : v) beyond += std::abs(x - 3) > 1 ? 1 : 0;
  EXPECT_NEAR(beyond, 0.0455 * kMany, 5 * std::sqrt(0.0455 * kMany));
}

TEST(RandomTest, TypesAreThoseAskedFor) {
  auto type_of = [](const Operator& op, const std::vector<Operand>& operands) {
    absl::StatusOr<std::vector<Tensor>> out = RunOperator(op, operands);
    EXPECT_TRUE(out.ok()) << out.status();
    return out.ok() ? (*out)[0].dtype() : DataType::Handle();
  };
  auto typed = [](int type) {
    return [type](Node* n) { SetInt(n, "dtype", type); };
  };
  const Tensor p = Filled({3}, 0.5);
  EXPECT_EQ(type_of({"RandomUniform", "", 22,
                     Shaped(typed(onnx::TensorProto::FLOAT16))},
                    {}),
            DataType::Float(16));
  EXPECT_EQ(
      type_of({"RandomNormalLike", "", 22, typed(onnx::TensorProto::DOUBLE)},
              {p}),
      DataType::Float(64));
  EXPECT_EQ(type_of({"Bernoulli", "", 15, typed(onnx::TensorProto::BOOL)}, {p}),
            DataType::Bool());
  const Operator integer{"RandomUniform", "", 22,
                         Shaped(typed(onnx::TensorProto::INT64))};
  EXPECT_THAT(std::string(RunOperator(integer, {}).status().message()),
              HasSubstr("gives no i64"));
}

TEST(RandomTest, ASeedGivesTheSameNumbers) {
  auto seeded = [](float seed) {
    return RunFloats({"RandomUniform", "", 22,
                      Shaped([seed](Node* n) { SetFloat(n, "seed", seed); })},
                     {});
  };
  EXPECT_EQ(seeded(1.5), seeded(1.5));
  EXPECT_NE(seeded(1.5), seeded(2.5));
  EXPECT_NE(seeded(0), RunFloats({"RandomUniform", "", 22, Shaped()}, {}));
}

TEST(RandomTest, BernoulliAsOftenAsItsOperandSays) {
  Tensor p = Filled({3, kMany}, 0);
  for (int64_t i = 0; i < kMany; ++i) {
    p.mutable_data<float>()[kMany + i] = 1;
    p.mutable_data<float>()[2 * kMany + i] = 0.3f;
  }
  const std::vector<float> v = RunFloats({"Bernoulli", "", 15}, {p});
  auto row = [&](int i) {
    return std::vector<float>(v.begin() + i * kMany,
                              v.begin() + (i + 1) * kMany);
  };
  EXPECT_THAT(row(0), Each(0));
  EXPECT_THAT(row(1), Each(1));
  EXPECT_NEAR(Mean(row(2)), 0.3, 5 * std::sqrt(0.21 / kMany));
}

TEST(RandomTest, MultinomialAsOftenAsItsOperandSays) {
  // Unnormalised: 1, 0, 2, 1 of 4; and one class alone.
  const float none = -INFINITY;
  const Tensor x = Floats({2, 4}, {std::log(3.0f), none, std::log(6.0f),
                                   std::log(3.0f), none, none, 7, none});
  const Operator op{"Multinomial", "", 7, [](Node* n) {
                      SetInt(n, "sample_size", kMany);
                      SetInt(n, "dtype", onnx::TensorProto::INT64);
                    }};
  const Tensor classes = (*RunOperator(op, {x}))[0];
  EXPECT_EQ(classes.TypeString(), "i64[2, 4000]");
  std::vector<int> counts(4);
  for (int64_t i = 0; i < kMany; ++i) {
    ++counts.at(classes.values<int64_t>()[i]);
    EXPECT_EQ(classes.values<int64_t>()[kMany + i], 2);
  }
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[0], kMany / 4, 5 * std::sqrt(kMany * 3 / 16));
  EXPECT_NEAR(counts[2], kMany / 2, 5 * std::sqrt(kMany / 4));
}

// Result and mask.
std::vector<Tensor> Drop(const std::vector<Operand>& operands) {
  const Operator op{"Dropout", "", 13, [](Node* n) { SetInt(n, "seed", 3); },
                    2};
  absl::StatusOr<std::vector<Tensor>> out = RunOperator(op, operands);
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? *out : std::vector<Tensor>{Filled({}, 0), Flag(false)};
}

void ExpectDropped(const std::vector<Tensor>& out, float ratio) {
  int kept = 0;
  for (int64_t i = 0; i < kMany; ++i) {
    const bool mask = out[1].values<bool>()[i];
    EXPECT_FLOAT_EQ(out[0].values<float>()[i], mask ? 2 / (1 - ratio) : 0);
    kept += mask ? 1 : 0;
  }
  EXPECT_NEAR(kept, (1 - ratio) * kMany,
              5 * std::sqrt(ratio * (1 - ratio) * kMany));
}

TEST(RandomTest, DropoutInTraining) {
  const Tensor x = Filled({kMany}, 2);
  const Tensor ratio = Filled({}, 0.25);
  ExpectDropped(Drop({x, Constant(ratio), Constant(Flag(true))}), 0.25);
  ExpectDropped(Drop({x, LeftOut(), Constant(Flag(true))}), 0.5);
  // As a run has it.
  ExpectDropped(Drop({x, ratio, Flag(true)}), 0.25);
  for (const auto& out :
       {Drop({x, ratio, Flag(false)}), Drop({x, ratio, Constant(Flag(false))}),
        Drop({x, Constant(Filled({}, 0)), Flag(true)})}) {
    EXPECT_THAT(out[0].values<float>(), Each(2));
    EXPECT_THAT(out[1].values<bool>(), Each(true));
  }
}

}  // namespace
}  // namespace ingot::onnx_frontend
