// Attention, as one operator and as exporters write it out.
#include <cmath>

#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

// softmax(q·kᵀ / sqrt(d) + mask)·v, with q, k and v often one value.
void AddWrittenOut(Grower* g, const std::string&) {
  Random& r = g->random();
  const DataType t = r.Chance(90) ? DataType::Float(32) : DataType::Float(64);
  const bool large = g->Large();
  const int64_t length = large
                             ? r.OneOf<int64_t>({128, 197, 256, 300})
                             : r.OneOf<int64_t>({1, 3, 8, 17, 31, 33, 64, 100});
  const int64_t depth = large ? r.OneOf<int64_t>({16, 33, 64, 80, 128})
                              : r.OneOf<int64_t>({1, 4, 8, 16, 24, 32, 33});
  Shape shape = {length, depth};
  if (r.Chance(70)) shape.insert(shape.begin(), 1 + r.Next(4));
  if (r.Chance(40)) shape.insert(shape.begin(), 1 + r.Next(2));
  const std::string q = g->Like(t, shape);
  const std::string k = r.Chance(50) ? q : g->Like(t, shape);
  const std::string v = r.Chance(50) ? k : g->Like(t, shape);
  Shape order;
  for (size_t d = 0; d < shape.size(); ++d) order.push_back(d);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  const auto kt = g->Try(Call("Transpose", {k}).Ints("perm", order));
  if (!kt) return;
  auto scores = g->Try(Call("MatMul", {q, *kt}));
  if (!scores) return;
  scores = g->Try(
      Call("Mul", {*scores, g->ScalarParameter(1 / std::sqrt(depth), t)}));
  if (!scores) return;
  if (r.Chance(40)) {
    const auto ones =
        g->Try(Call("ConstantOfShape", {g->Parameter({length, length})})
                   .Value("value", [&] {
                     Tensor one = *Tensor::Empty(t, {1});
                     if (t.bits == 32) {
                       one.mutable_data<float>()[0] = -100;
                     } else {
                       one.mutable_data<double>()[0] = -100;
                     }
                     return one;
                   }()));
    if (!ones) return;
    const auto mask = g->Try(
        Call("Trilu", {*ones, g->ScalarParameter(1, DataType::Int(64))}));
    if (!mask) return;
    scores = g->Try(Call("Add", {*scores, *mask}));
    if (!scores) return;
  }
  const auto weights = g->Try(Call("Softmax", {*scores}).Int("axis", -1));
  if (weights) g->Try(Call("MatMul", {*weights, v}));
}

void AddAttentionOperator(Grower* g, const std::string& op) {
  if (g->opset() < 23) return AddWrittenOut(g, op);
  Random& r = g->random();
  const DataType t = DataType::Float(32);
  const int64_t batch = 1 + r.Next(2), heads = r.OneOf<int64_t>({1, 2, 4});
  const int64_t kv_heads = r.Chance(70) ? heads : 1;
  const bool large = g->Large();
  const int64_t depth = large ? r.OneOf<int64_t>({16, 33, 64, 128})
                              : r.OneOf<int64_t>({1, 4, 8, 16, 17});
  const int64_t q_length = large ? r.OneOf<int64_t>({1, 64, 130, 256})
                                 : r.OneOf<int64_t>({1, 5, 16, 33});
  const int64_t kv_length =
      r.Chance(50) ? q_length : 1 + r.Next(large ? 400 : 20);
  const bool flat = r.Chance(40);
  auto shape_of = [&](int64_t h, int64_t length) {
    return flat ? Shape{batch, length, h * depth}
                : Shape{batch, h, length, depth};
  };
  const std::string q = g->Like(t, shape_of(heads, q_length));
  const bool same = r.Chance(40) && kv_heads == heads && kv_length == q_length;
  const std::string k = same ? q : g->Like(t, shape_of(kv_heads, kv_length));
  const std::string v =
      r.Chance(30) ? k : g->Like(t, shape_of(kv_heads, kv_length));
  Call call(op, {q, k, v});
  if (r.Chance(40)) {
    if (r.Chance(50)) {
      call.operands.push_back(g->New(t, {q_length, kv_length}));
    } else {
      call.operands.push_back(
          g->New(DataType::Bool(), {batch, 1, q_length, kv_length}));
    }
  }
  if (flat || r.Chance(10)) {
    call.Int("q_num_heads", heads).Int("kv_num_heads", kv_heads);
  }
  if (r.Chance(35)) call.Int("is_causal", 1);
  if (r.Chance(25)) call.Float("scale", 0.5);
  if (r.Chance(20)) call.Float("softcap", 2);
  if (g->opset() >= 24 && r.Chance(30)) {
    // How many of the keys are none of the padding.
    call.operands.resize(7);
    call.operands[6] = g->New(DataType::Int(64), {batch},
                              Fill::Whole(1, static_cast<double>(kv_length)));
  } else if (r.Chance(20) && !flat) {
    call.operands.resize(4);
    const Shape past = {batch, kv_heads, 1 + r.Next(5), depth};
    call.operands[3].clear();
    call.operands.push_back(g->Like(t, past));
    call.operands.push_back(g->Like(t, past));
    call.Results(3);
  }
  if (r.Chance(10)) {
    // The scores, too, as they are after so many steps.
    call.Int("qk_matmul_output_mode", r.Next(4)).Results(4);
  }
  g->Add(call);
}

void AddRotary(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = DataType::Float(32);
  const int64_t batch = 1 + r.Next(2), heads = 1 + r.Next(3);
  const int64_t length = 1 + r.Next(9), depth = 2 * (1 + r.Next(8));
  const bool flat = r.Chance(40), positions = r.Chance(50);
  const int64_t rotated = r.Chance(70) ? depth : 2 * (1 + r.Next(depth / 2));
  const Shape cache =
      positions ? Shape{20, rotated / 2} : Shape{batch, length, rotated / 2};
  Call call(op, {g->Like(t, flat ? Shape{batch, length, heads * depth}
                                 : Shape{batch, heads, length, depth}),
                 g->New(t, cache), g->New(t, cache)});
  if (positions) {
    call.operands.push_back(
        g->New(DataType::Int(64), {batch, length}, Fill::Whole(0, 19)));
  }
  if (flat) call.Int("num_heads", heads);
  if (rotated != depth) call.Int("rotary_embedding_dim", rotated);
  if (r.Chance(40)) call.Int("interleaved", 1);
  g->Try(call);
}

}  // namespace

void AddAttention(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"Attention"}, AddAttentionOperator, 3});
  samplers->push_back({{"Softmax", "MatMul", "Transpose"}, AddWrittenOut, 2});
  samplers->push_back({{"RotaryEmbedding"}, AddRotary});
}

}  // namespace ingot::fuzz
