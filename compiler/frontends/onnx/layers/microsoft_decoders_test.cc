// com.microsoft's operators of decoders with states, against their formulas,
// written out here.
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

Operator Microsoft(const std::string& op,
                   std::function<void(onnx::NodeProto*)> attributes = nullptr,
                   int outputs = 1) {
  return {op, "com.microsoft", 1, std::move(attributes), outputs};
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(MicrosoftDecodersTest, GatedRmsNormOfGroups) {
  const Tensor x = RandomFloats({2, 6}, 1), scale = RandomFloats({3}, 2),
               gate = RandomFloats({2, 6}, 3);
  std::vector<float> expected;
  for (int i = 0; i < 12; ++i) {
    double square = 0;
    for (int j = 0; j < 3; ++j) {
      const double v = ValuesOf(x)[i / 3 * 3 + j];
      square += v * v / 3;
    }
    const double g = ValuesOf(gate)[i];
    expected.push_back(
        static_cast<float>(ValuesOf(x)[i] / std::sqrt(square + 1e-2) *
                           ValuesOf(scale)[i % 3] * g * Sigmoid(g)));
  }
  const Operator op = Microsoft("GatedRMSNorm", [](onnx::NodeProto* n) {
    SetFloat(n, "epsilon", 1e-2f);
  });
  ExpectNear(RunFloats(op, {x, scale, gate}), expected);
  EXPECT_TRUE(absl::IsInvalidArgument(
      RunOperator(op, {x, RandomFloats({4}, 2), gate}).status()));
}

TEST(MicrosoftDecodersTest, GatedAdd) {
  ExpectNear(RunFloats(Microsoft("GatedAdd"),
                       {Floats({2, 2}, {1, 2, 3, 4}),
                        Floats({2, 2}, {1, 1, 2, 2}), Floats({2, 1}, {3, -1})}),
             {4, 5, 1, 2});
}

TEST(MicrosoftDecodersTest, LinearAttentionGate) {
  const std::vector<Tensor> out =
      Outputs(Microsoft("LinearAttentionGate", nullptr, 2),
              {Floats({1, 2, 2}, {1, -2, 0, 3}), Floats({2}, {0.5f, 1}),
               Floats({2}, {-1, -2}), Floats({1, 2, 2}, {0, 1, -1, 2})});
  std::vector<float> decay;
  const double sums[] = {1.5, -1, 0.5, 4}, scales[] = {-1, -2, -1, -2};
  for (int i = 0; i < 4; ++i) {
    decay.push_back(
        static_cast<float>(scales[i] * std::log1p(std::exp(sums[i]))));
  }
  ExpectNear(ValuesOf(out[0]), decay);
  ExpectNear(ValuesOf(out[1]),
             {0.5f, static_cast<float>(Sigmoid(1)),
              static_cast<float>(Sigmoid(-1)), static_cast<float>(Sigmoid(2))});
}

// Every second element before an element counts, and the state is twice as
// long.
TEST(MicrosoftDecodersTest, CausalConvWithDilation) {
  const Operator op = Microsoft(
      "CausalConvWithState",
      [](onnx::NodeProto* n) { SetInt(n, "dilation", 2); }, 2);
  const std::vector<Tensor> out =
      Outputs(op, {Floats({1, 1, 3}, {1, 2, 3}), Floats({1, 1, 2}, {10, 1}),
                   LeftOut(), Floats({1, 1, 2}, {7, 8})});
  ExpectNear(ValuesOf(out[0]), {71, 82, 13});
  ExpectNear(ValuesOf(out[1]), {2, 3});
  EXPECT_TRUE(absl::IsUnimplemented(
      RunOperator(
          Microsoft("CausalConvWithState",
                    [](onnx::NodeProto* n) { SetInt(n, "state_window", 1); }),
          {Floats({1, 1, 3}, {1, 2, 3}), Floats({1, 1, 2}, {10, 1})})
          .status()));
}

// The first of 4 angles is the first position's in either layout; in turns,
// the third position's share of 1 is the third angle.
TEST(MicrosoftDecodersTest, RotaryEmbeddingOfThreePositions) {
  std::vector<float> cosines, sines;
  for (int p = 0; p < 6; ++p) {
    for (int i = 0; i < 4; ++i) {
      cosines.push_back(static_cast<float>(std::cos(p * (i + 1) / 8.0)));
      sines.push_back(static_cast<float>(std::sin(p * (i + 1) / 8.0)));
    }
  }
  const Tensor x = RandomFloats({1, 2, 2, 8}, 4);  // batch, heads, steps
  const int positions[3][2] = {{0, 3}, {1, 4}, {2, 5}};
  const int by[2][4] = {{0, 0, 1, 2}, {0, 1, 2, 0}};
  for (int layout : {0, 1}) {
    const Operator op = Microsoft("MRotaryEmbedding", [=](onnx::NodeProto* n) {
      SetInts(n, "mrope_section", {2, 1, 1});
      SetInt(n, "mrope_layout", layout);
    });
    std::vector<float> expected = ValuesOf(x);
    for (int row = 0; row < 4; ++row) {
      for (int i = 0; i < 4; ++i) {
        const double angle = positions[by[layout][i]][row % 2] * (i + 1) / 8.0;
        float& a = expected[row * 8 + i];
        float& b = expected[row * 8 + 4 + i];
        const double first = a, second = b;
        a = static_cast<float>(first * std::cos(angle) -
                               second * std::sin(angle));
        b = static_cast<float>(first * std::sin(angle) +
                               second * std::cos(angle));
      }
    }
    ExpectNear(RunFloats(op, {x, Longs({3, 1, 2}, {0, 3, 1, 4, 2, 5}),
                              Floats({6, 4}, cosines), Floats({6, 4}, sines)}),
               expected);
  }
  const Operator short_of_one =
      Microsoft("MRotaryEmbedding", [](onnx::NodeProto* n) {
        SetInts(n, "mrope_section", {1, 1, 1});
      });
  EXPECT_TRUE(absl::IsInvalidArgument(
      RunOperator(short_of_one,
                  {x, Longs({3, 1, 2}, {0, 3, 1, 4, 2, 5}),
                   Floats({6, 4}, cosines), Floats({6, 4}, sines)})
          .status()));
}

}  // namespace
}  // namespace ingot::onnx_frontend
