// Layers that pass a state on from call to call, and what writes into one.
#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

void AddCausalConvolution(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = DataType::Float(32);
  const int64_t batch = 1 + r.Next(2);
  const int64_t channels = r.OneOf<int64_t>({1, 3, 8, 16, 17, 32});
  const int64_t extent = 1 + r.Next(5), length = 1 + r.Next(20);
  Call call(op, {g->Like(t, {batch, channels, length}),
                 g->Weight(t, {channels, 1, extent})});
  const bool has_bias = r.Chance(50), has_state = r.Chance(50);
  if (has_bias || has_state) {
    call.operands.push_back(has_bias ? g->Weight(t, {channels}) : "");
  }
  if (has_state) {
    call.operands.push_back(g->Like(t, {batch, channels, extent - 1}));
  }
  if (r.Chance(50)) call.String("activation", r.OneOf({"silu", "none"}));
  g->Add(call.Results(2));
}

void AddLinearAttention(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = DataType::Float(32);
  const int64_t batch = 1 + r.Next(2), length = 1 + r.Next(9);
  const int64_t heads = 1 + r.Next(3), shared = r.Chance(60) ? 1 : 2;
  const int64_t key = r.OneOf<int64_t>({1, 4, 8, 16, 17});
  const int64_t value = r.OneOf<int64_t>({1, 4, 8, 16, 33});
  const std::string rule = r.OneOf({"linear", "gated", "delta", "gated_delta"});
  // Keys that are small keep the state from growing with each step.
  const Fill small{-0.25, 0.25, false};
  Call call(op, {g->Like(t, {batch, length, heads * shared * key}),
                 g->New(t, {batch, length, heads * key}, small),
                 g->Like(t, {batch, length, heads * value})});
  call.operands.push_back(r.Chance(60) ? g->Like(t, {batch, heads, key, value})
                                       : "");
  const bool gated = rule == "gated" || rule == "gated_delta";
  call.operands.push_back(
      gated ? g->New(t, {batch, length, heads * (r.Chance(50) ? key : 1)},
                     Fill{-1, -0.1, false})
            : "");
  if (rule == "delta" || rule == "gated_delta") {
    call.operands.push_back(g->New(t, {batch, length, r.Chance(50) ? heads : 1},
                                   Fill{0.1, 0.9, false}));
  }
  if (call.operands.back().empty()) call.operands.pop_back();
  if (call.operands.back().empty()) call.operands.pop_back();
  call.String("update_rule", rule);
  call.Int("q_num_heads", heads * shared).Int("kv_num_heads", heads);
  if (r.Chance(30)) call.Float("scale", 0.5);
  g->Add(call.Results(2));
}

void AddTensorScatter(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string kept = g->Some(g->AnyType(), 3, 4);
  Shape shape = g->ShapeOf(kept);
  const int64_t axis = 1 + r.Next(g->RankOf(kept) - 1);
  const int64_t extent = shape[axis];
  if (extent == 0 || g->At(kept).NumElements() == 0) return;
  const bool circular = r.Chance(30);
  const int64_t count = 1 + r.Next(extent);
  shape[axis] = count;
  Call call(op, {kept, g->Like(g->TypeOf(kept), shape)});
  if (r.Chance(80)) {
    const int64_t last = circular ? extent - 1 : extent - count;
    call.operands.push_back(g->New(DataType::Int(64), {shape[0]},
                                   Fill::Whole(0, static_cast<double>(last))));
  }
  if (axis != g->RankOf(kept) - 2 || r.Chance(40)) {
    call.Int("axis", r.Chance(30) ? axis - g->RankOf(kept) : axis);
  }
  if (circular) call.String("mode", "circular");
  g->Try(call);
}

}  // namespace

void AddState(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"CausalConvWithState"}, AddCausalConvolution});
  samplers->push_back({{"LinearAttention"}, AddLinearAttention});
  samplers->push_back({{"TensorScatter"}, AddTensorScatter});
}

}  // namespace ingot::fuzz
