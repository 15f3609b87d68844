// Normalisations.
#include <algorithm>

#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

void AddBatchNormalization(Grower* g, const std::string& op) {
  const DataType t = g->FloatType();
  const std::string x = g->Some(t, 2, 5);
  const Shape c = {g->ShapeOf(x)[1]};
  Call call(op, {x, g->New(t, c), g->New(t, c), g->New(t, c),
                 g->New(t, c, Fill::Positive())});
  if (g->random().Chance(50)) call.Float("epsilon", 1e-3);
  g->Try(call);
}

void AddInstanceNormalization(Grower* g, const std::string& op) {
  const std::string x = g->Some(g->FloatType(), 3, 5);
  const Shape shape = g->ShapeOf(x), c = {shape[1]};
  // Of no elements it ends ONNX Runtime's process, now and then.
  if (std::count(shape.begin(), shape.end(), 0) > 0) return;
  g->Try(Call(op, {x, g->New(g->TypeOf(x), c), g->New(g->TypeOf(x), c)}));
}

void AddGroupNormalization(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(g->FloatType(), 3, 5);
  const int64_t channels = g->ShapeOf(x)[1];
  if (channels == 0) return;
  int64_t groups = 1 + r.Next(channels);
  while (channels % groups != 0) --groups;
  const Shape c = {g->opset() < 21 ? groups : channels};
  g->Try(Call(op, {x, g->New(g->TypeOf(x), c), g->New(g->TypeOf(x), c)})
             .Int("num_groups", groups));
}

void AddLayerNormalization(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(g->FloatType(), 1, 5);
  const int64_t axis = r.Chance(60) ? -1 : g->Axis(x);
  const Shape shape = g->ShapeOf(x);
  const int64_t first = axis < 0 ? axis + g->RankOf(x) : axis;
  const Shape scale(shape.begin() + first, shape.end());
  Call call(op, {x, g->New(g->TypeOf(x), scale)});
  if (op == "LayerNormalization" && r.Chance(70)) {
    call.operands.push_back(g->New(g->TypeOf(x), scale));
  }
  if (axis != -1 || r.Chance(50)) call.Int("axis", axis);
  if (r.Chance(50)) call.Float("epsilon", 1e-3);
  if (op == "LayerNormalization" && r.Chance(15)) call.Results(3);
  g->Try(call);
}

void AddLrn(Grower* g, const std::string& op) {
  Random& r = g->random();
  Call call(op, {g->Some(DataType::Float(32), 4, 4)});
  call.Int("size", 1 + 2 * r.Next(4));
  if (r.Chance(50)) call.Float("alpha", 0.01).Float("beta", 0.5);
  if (r.Chance(50)) call.Float("bias", 2);
  g->Try(call);
}

void AddMeanVariance(Grower* g, const std::string& op) {
  const std::string x = g->Some(DataType::Float(32), 2, 4);
  Call call(op, {x});
  if (g->RankOf(x) != 4 || g->random().Chance(40)) {
    call.Ints("axes", {0, g->RankOf(x) - 1});
  }
  g->Try(call);
}

}  // namespace

void AddNormalizations(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"BatchNormalization"}, AddBatchNormalization, 2});
  samplers->push_back({{"InstanceNormalization"}, AddInstanceNormalization});
  samplers->push_back({{"GroupNormalization"}, AddGroupNormalization});
  samplers->push_back(
      {{"LayerNormalization", "RMSNormalization"}, AddLayerNormalization, 2});
  samplers->push_back({{"LRN"}, AddLrn});
  samplers->push_back({{"MeanVarianceNormalization"}, AddMeanVariance});
}

}  // namespace ingot::fuzz
