// Losses of classes.
#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

void AddLoss(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = DataType::Float(32);
  const int64_t classes = 2 + r.Next(9);
  Shape shape = {1 + r.Next(8), classes};
  for (int64_t k = r.Next(3); k > 0; --k) shape.push_back(1 + r.Next(6));
  std::string x = g->Like(t, shape);
  if (op == "NegativeLogLikelihoodLoss") {
    const auto scores = g->Try(Call("LogSoftmax", {x}).Int("axis", 1));
    if (!scores) return;
    x = *scores;
  }
  Shape labels = shape;
  labels.erase(labels.begin() + 1);
  Call call(op, {x, g->New(DataType::Int(64), labels,
                           Fill::Whole(0, static_cast<double>(classes - 1)))});
  if (r.Chance(50)) {
    call.operands.push_back(g->New(t, {classes}, Fill::Positive()));
  }
  call.String("reduction", r.OneOf({"none", "sum", "mean"}));
  if (r.Chance(40)) call.Int("ignore_index", r.Next(classes));
  if (op == "SoftmaxCrossEntropyLoss" && r.Chance(30)) call.Results(2);
  g->Add(call);
}

}  // namespace

void AddLosses(std::vector<OnnxSampler>* samplers) {
  samplers->push_back(
      {{"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}, AddLoss});
}

}  // namespace ingot::fuzz
