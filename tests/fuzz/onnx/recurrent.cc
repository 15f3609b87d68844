// LSTM, GRU and RNN with all that their attributes and optional operands say.
#include <cmath>
#include <map>

#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

// Activations, and how many of alpha and beta each takes from the lists.
struct Activation {
  const char* name;
  bool alpha, beta;
};
constexpr Activation kActivations[] = {{"Tanh", false, false},
                                       {"Sigmoid", false, false},
                                       {"Relu", false, false},
                                       {"LeakyRelu", true, false},
                                       {"HardSigmoid", true, true},
                                       {"Elu", true, false},
                                       {"ThresholdedRelu", true, false},
                                       {"Softsign", false, false},
                                       {"Softplus", false, false},
                                       {"ScaledTanh", true, true},
                                       {"Affine", true, true}};

// The lists hold a value for each function that takes one, in order.
void SetActivations(Random* r, int count, Call* call) {
  std::vector<std::string> names;
  std::vector<double> alphas, betas;
  for (int k = 0; k < count; ++k) {
    const Activation& f =
        kActivations[r->Next(r->Chance(50) ? 3 : std::size(kActivations))];
    names.push_back(f.name);
    if (f.alpha) alphas.push_back(r->Real(0.1, 0.6));
    if (f.beta) betas.push_back(r->Real(0.2, 0.6));
  }
  call->Strings("activations", names);
  if (!alphas.empty()) call->Floats("activation_alpha", alphas);
  if (!betas.empty()) call->Floats("activation_beta", betas);
}

void AddRecurrentLayer(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = r.Chance(85) ? DataType::Float(32) : DataType::Float(64);
  const int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
  const std::string direction =
      r.OneOf({"forward", "reverse", "bidirectional"});
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  const bool large = g->Large();
  const int64_t hidden =
      large ? r.OneOf<int64_t>({16, 48, 64, 100, 128, 200, 256})
            : r.OneOf<int64_t>({1, 2, 3, 5, 8, 16, 17, 33, 64});
  auto x = g->Existing([&](const Tensor& value) {
    return value.dtype() == t && value.shape().size() == 3 &&
           value.shape()[0] <= 9 && value.NumElements() < 4000;
  });
  if (large) {
    x = g->New(t,
               {1 + r.Next(5), r.OneOf<int64_t>({1, 2, 7, 8, 13, 16, 33, 64}),
                r.OneOf<int64_t>({1, 16, 64, 100, 200})});
  } else if (!x || r.Chance(40)) {
    x = g->New(t, {1 + r.Next(7), 1 + r.Next(4),
                   r.OneOf<int64_t>({1, 2, 4, 9, 16, 40})});
  }
  const Shape data = g->ShapeOf(*x);
  if (data[0] * data[1] * data[2] == 0) return;
  const bool batch_first = g->opset() >= 14 && r.Chance(12);
  const int64_t batch = data[batch_first ? 0 : 1],
                time = data[batch_first ? 1 : 0];
  // With larger weights, a step of many units would make a difference larger,
  // and ONNX Runtime's tanh and sigmoid are less exact than is allowed then.
  Fill weights;
  if (large) weights.high = 2 / std::sqrt(static_cast<double>(hidden));
  weights.low = -weights.high;
  Call call(op, {*x, g->New(t, {directions, gates * hidden, data[2]}),
                 g->New(t, {directions, gates * hidden, hidden}, weights)});
  const Shape state = batch_first ? Shape{batch, directions, hidden}
                                  : Shape{directions, batch, hidden};
  call.operands.push_back(
      r.Chance(70) ? g->New(t, {directions, 2 * gates * hidden}) : "");
  call.operands.push_back(
      r.Chance(35) ? g->New(DataType::Int(32), {batch},
                            Fill::Whole(1, static_cast<double>(time)))
                   : "");
  call.operands.push_back(r.Chance(50) ? g->Like(t, state) : "");
  if (op == "LSTM") {
    call.operands.push_back(r.Chance(50) ? g->Like(t, state) : "");
    if (r.Chance(30)) {
      call.operands.push_back(g->New(t, {directions, 3 * hidden}));
    }
  }
  call.Int("hidden_size", hidden);
  if (directions > 1 || direction == "reverse" || r.Chance(30)) {
    call.String("direction", direction);
  }
  if (batch_first) call.Int("layout", 1);
  if (r.Chance(40)) {
    const int functions = op == "LSTM" ? 3 : op == "GRU" ? 2 : 1;
    SetActivations(&r, functions * static_cast<int>(directions), &call);
  }
  if (r.Chance(20)) call.Float("clip", r.Real(0.2, 2));
  if (op == "GRU" && r.Chance(50)) call.Int("linear_before_reset", 1);
  if (op == "LSTM" && r.Chance(10)) call.Int("input_forget", 1);
  call.Results(op == "LSTM" ? 3 : 2);
  g->Add(call);
}

}  // namespace

void AddRecurrent(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"LSTM", "GRU", "RNN"}, AddRecurrentLayer, 4});
}

}  // namespace ingot::fuzz
