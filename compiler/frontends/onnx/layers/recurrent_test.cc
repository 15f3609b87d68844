// Recurrent layers beyond ONNX's own cases. Numbers of other origin than a
// second way of our own are ONNX Runtime 1.30's.
#include <string>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using Node = onnx::NodeProto;

void SetActivations(Node* node, const std::vector<std::string>& names,
                    const std::vector<float>& alpha,
                    const std::vector<float>& beta) {
  auto* a = node->add_attribute();
  a->set_name("activations");
  a->set_type(onnx::AttributeProto::STRINGS);
  for (const std::string& name : names) a->add_strings(name);
  const auto set = [&](const char* attribute, const std::vector<float>& v) {
    auto* floats = node->add_attribute();
    floats->set_name(attribute);
    floats->set_type(onnx::AttributeProto::FLOATS);
    for (float f : v) floats->add_floats(f);
  };
  set("activation_alpha", alpha);
  set("activation_beta", beta);
}

const Tensor& Steps() {
  static const auto* x = new Tensor(Floats({2, 1, 1}, {1, -0.5}));
  return *x;
}

// The values of both directions are one sequence, of which functions without
// parameters take none.
TEST(RecurrentTest, ActivationsTakeTheirParametersInTurn) {
  const Operator op{"LSTM", "", 17,
                    [](Node* n) {
                      SetInt(n, "hidden_size", 1);
                      SetString(n, "direction", "bidirectional");
                      SetActivations(n,
                                     {"Sigmoid", "LeakyRelu", "Elu",
                                      "HardSigmoid", "Tanh", "ScaledTanh"},
                                     {0.3f, 0.7f, 0.4f, 1.5f}, {0.1f, 0.8f});
                    },
                    3};
  const std::vector<float> w = {0.5f, -0.3f, 0.8f, -0.6f};
  const std::vector<float> r = {0.2f, 0.4f, -0.1f, 0.7f};
  std::vector<float> both_w = w, both_r = r;
  both_w.insert(both_w.end(), w.begin(), w.end());
  both_r.insert(both_r.end(), r.begin(), r.end());
  const std::vector<Tensor> out = Outputs(
      op, {Steps(), Floats({2, 4, 1}, both_w), Floats({2, 4, 1}, both_r)});
  const auto floats = [&](int i) {
    const auto values = out[i].values<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  ExpectNear(floats(0), {-0.031574558f, 0, 0.040707082f, 0});
  ExpectNear(floats(1), {0.040707082f, 0});
  ExpectNear(floats(2), {0.076189309f, -0.16111489f});
}

std::vector<float> RunGru(const std::vector<std::string>& activations,
                          const std::vector<float>& alpha,
                          const std::vector<float>& beta) {
  const Operator op{"GRU", "", 17, [&](Node* n) {
                      SetInt(n, "hidden_size", 1);
                      SetActivations(n, activations, alpha, beta);
                    }};
  return RunFloats(op, {Steps(), Floats({1, 3, 1}, {0.5f, -0.3f, 0.8f}),
                        Floats({1, 3, 1}, {0.2f, 0.4f, -0.1f})});
}

TEST(RecurrentTest, ActivationsBehindTheLastParameterHaveDefaults) {
  ExpectNear(RunGru({"Sigmoid", "HardSigmoid"}, {}, {}),
             {0.24917687f, 0.34156787f});
  ExpectNear(RunGru({"Elu", "Softsign"}, {0.7f}, {}),
             {0.22222224f, -0.35482752f});
}

TEST(RecurrentTest, ParametersThatNoActivationTakesAreLeft) {
  ExpectNear(RunGru({"Sigmoid", "ScaledTanh"}, {0.7f, 9, 9}, {0.6f}),
             {0.1179326f, -0.040823501f});
}

// The limit holds for whatever an activation is applied to, as ONNX's
// specification has it: by hand o * tanh(min(c, 0.5)), where i, f and o are
// sigmoid(0.5) and c grows by i * tanh(0.5) a step. (ONNX Runtime does not
// limit c: 0.3245 for the last step.)
TEST(RecurrentTest, ClipLimitsTheCellToo) {
  const Operator op{"LSTM", "", 17, [](Node* n) {
                      SetInt(n, "hidden_size", 1);
                      SetFloat(n, "clip", 0.5f);
                    }};
  ExpectNear(RunFloats(op, {Floats({3, 1, 1}, {1, 1, 1}),
                            Floats({1, 4, 1}, {5, 5, 5, 5}),
                            Floats({1, 4, 1}, {0, 0, 0, 0})}),
             {0.17426971f, 0.27109864f, 0.28764914f});
}

// ------------------------------------------------------------------- extents

struct Layer {
  const char* op;
  int64_t gates;
  int states;
};

std::vector<Operand> OperandsOf(const Layer& layer, bool symbolic) {
  const int64_t h = 4, in = 3, batch = 2, g = layer.gates;
  std::vector<Tensor> tensors = {RandomFloats({5, batch, in}, 1),
                                 RandomFloats({2, g * h, in}, 2),
                                 RandomFloats({2, g * h, h}, 3),
                                 RandomFloats({2, 2 * g * h}, 4),
                                 Tensor(),
                                 RandomFloats({2, batch, h}, 5)};
  if (layer.states == 2) {
    tensors.push_back(RandomFloats({2, batch, h}, 6));
    tensors.push_back(RandomFloats({2, 3 * h}, 7));
  }
  std::vector<Operand> operands;
  for (const Tensor& t : tensors) {
    operands.push_back(!t.defined() || !symbolic ? Operand(t) : Symbolic(t));
  }
  return operands;
}

// All that the layer needs to know is hidden_size.
TEST(RecurrentTest, WeightsOfSymbols) {
  for (const Layer& layer :
       {Layer{"LSTM", 4, 2}, Layer{"GRU", 3, 1}, Layer{"RNN", 1, 1}}) {
    SCOPED_TRACE(layer.op);
    const Operator op{layer.op, "", 22, [](Node* n) {
                        SetInt(n, "hidden_size", 4);
                        SetString(n, "direction", "bidirectional");
                      }};
    ExpectNear(RunFloats(op, OperandsOf(layer, /*symbolic=*/true)),
               RunFloats(op, OperandsOf(layer, /*symbolic=*/false)));
  }
}

TEST(RecurrentTest, OneExtentOfAWeightTellsTheHiddenUnits) {
  const Operator op{"GRU", "", 22};
  const Tensor x = RandomFloats({5, 2, 3}, 1), w = RandomFloats({1, 12, 3}, 2),
               r = RandomFloats({1, 12, 4}, 3);
  ExpectNear(RunFloats(op, {x, w, Symbolic(r)}), RunFloats(op, {x, w, r}));
  const auto unknown = RunOperator(op, {x, Symbolic(w), Symbolic(r)});
  EXPECT_THAT(std::string(unknown.status().message()),
              testing::HasSubstr("hidden_size"));
}

TEST(RecurrentTest, ExtentsThatDoNotFitAreErrors) {
  const auto run = [](int64_t hidden, const Tensor& w, const Tensor& r,
                      const Tensor& b) {
    const Operator op{"RNN", "", 22,
                      [=](Node* n) { SetInt(n, "hidden_size", hidden); }};
    return RunOperator(op, {RandomFloats({5, 2, 3}, 1), w, r, b}).status();
  };
  const Tensor w = RandomFloats({1, 4, 3}, 2), r = RandomFloats({1, 4, 4}, 3),
               b = RandomFloats({1, 8}, 4);
  EXPECT_TRUE(run(4, w, r, b).ok());
  for (const absl::Status& status :
       {run(5, w, r, b), run(4, RandomFloats({1, 5, 3}, 2), r, b),
        run(4, w, RandomFloats({2, 4, 4}, 3), b),
        run(4, w, r, RandomFloats({1, 4}, 4)), run(0, w, r, b),
        run(-4, w, r, b), run(int64_t{1} << 40, w, r, b),
        run(int64_t{1} << 62, w, r, b)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  }
}

}  // namespace
}  // namespace ingot::onnx_frontend
