// com.microsoft's mixtures of experts: each row goes through the layers of a
// few experts, which a router weighs.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/layers/packed_numbers.h"

namespace ingot::onnx_frontend {
namespace {

const DataType kF32 = DataType::Float(32);

// The numbers of the operands of one of the two layers; -1: there is no such
// one.
struct LayerOperands {
  int weights = -1, scales = -1, bias = -1;
};

struct Sizes {
  int64_t experts = 0, hidden = 0, inner = 0;
};

// Which experts each row goes through, and with which weights.
struct Routes {
  Value experts;  // i64[rows * k]
  Value weights;  // [rows, k, 1]
  tir::Expr rows;
  int64_t k = 1;
};

// The weights of the experts that were chosen: what the softmax of the scores
// gives them, or an operand of its own.
struct RouterOperands {
  int weights = -1;         // -1: no such operand
  bool normalized = false;  // whether the softmax is over the chosen ones alone
};

absl::StatusOr<Routes> ReadRoutes(Compose& k, const RouterOperands& router) {
  NodeContext& c = k.context();
  const Value scores = k.Input(1);
  INGOT_RETURN_IF_ERROR(k.status());
  Routes routes;
  routes.k = c.Int("k", 1);
  int64_t experts;
  if (RankOf(scores) != 2 || !tir::AsConstInt(ShapeOf(scores)[1], &experts) ||
      routes.k < 1 || routes.k > experts) {
    return c.Error(routes.k, " experts of scores that are ",
                   relay::ToString(scores.type()));
  }
  routes.rows = ShapeOf(scores)[0];
  Attrs last;
  last.Set("axis", int64_t{-1});
  const Value shares = k.Call("softmax", {k.Cast(scores, kF32)}, last);
  INGOT_RETURN_IF_ERROR(k.status());
  Attrs top = last;
  top.Set("k", Shape{I(routes.k)});
  INGOT_ASSIGN_OR_RETURN(relay::Node * node,
                         c.EmitNode("top_k", {shares}, std::move(top)));
  Value weights{node, 0};
  bool normalized = c.Int("normalize_routing_weights", 0) != 0;
  if (router.weights >= 0 && c.has_input(router.weights)) {
    Attrs along;
    along.Set("axis", int64_t{1});
    weights =
        k.Call("gather_elements",
               {k.Cast(k.Input(router.weights), kF32), Value{node, 1}}, along);
  } else {
    normalized = normalized || router.normalized;
  }
  if (normalized) {
    weights = k.Div(weights, k.Reduce("reduce_sum", weights, {1}));
  }
  routes.weights = k.Reshape(weights, {routes.rows, I(routes.k), I(1)});
  routes.experts =
      k.Reshape(Value{node, 1}, {SimplifyDim(routes.rows * routes.k)});
  INGOT_RETURN_IF_ERROR(k.status());
  return routes;
}

// The weights of all experts, [experts, rows, columns], as f32.
absl::StatusOr<Value> ReadWeights(Compose& k, const LayerOperands& operands,
                                  int64_t experts, int64_t rows,
                                  int64_t columns) {
  NodeContext& c = k.context();
  const Shape shape = relay::MakeShape({experts, rows, columns});
  if (operands.scales < 0) {
    return k.Cast(k.Reshape(k.Input(operands.weights), shape), kF32);
  }
  const int64_t bits = c.Int("expert_weight_bits", 4);
  int64_t block = c.Int("block_size", 0);
  if (bits != 2 && bits != 4 && bits != 8) {
    return c.NotSupported("expert_weight_bits=", bits);
  }
  if (block == 0) block = columns;  // a scale for each row
  if (block < 1 || columns % block != 0) {
    return c.NotSupported("block_size=", block, " of ", columns, " columns");
  }
  Value w = k.Cast(UnpackNumbers(k, k.Input(operands.weights), bits,
                                 I(experts * rows), columns),
                   kF32);
  const int64_t blocks = columns / block;
  w = k.Reshape(k.Sub(w, static_cast<double>(1 << (bits - 1))),
                relay::MakeShape({experts, rows, blocks, block}));
  const Value scales = k.Reshape(k.Cast(k.Input(operands.scales), kF32),
                                 relay::MakeShape({experts, rows, blocks, 1}));
  return k.Reshape(k.Mul(w, scales), shape);
}

// Each row of x by the layer of its expert.
absl::StatusOr<Value> Layer(Compose& k, Value x, const Routes& routes,
                            const LayerOperands& operands, int64_t experts,
                            int64_t rows, int64_t columns) {
  NodeContext& c = k.context();
  INGOT_ASSIGN_OR_RETURN(const Value w,
                         ReadWeights(k, operands, experts, rows, columns));
  Value y = k.Call("expert_dense", {x, w, routes.experts});
  if (c.has_input(operands.bias)) {
    const Value bias = k.Reshape(k.Cast(k.Input(operands.bias), kF32),
                                 relay::MakeShape({experts, rows}));
    y = k.Add(y, k.Call("gather", {bias, routes.experts}));
  }
  INGOT_RETURN_IF_ERROR(k.status());
  return y;
}

// gate * sigmoid(alpha gate) * (linear + beta), the two being neighbours, and
// neither beyond a limit.
Value SwiGlu(Compose& k, Value x, int64_t inner) {
  if (!k.ok()) return Value{};
  NodeContext& c = k.context();
  const tir::Expr rows = ShapeOf(x)[0];
  const Value pairs = k.Reshape(x, {rows, I(inner), I(2)});
  auto part = [&](int64_t at) {
    return k.Reshape(k.Slice(pairs, 2, I(at), I(at + 1)), {rows, I(inner)});
  };
  Value gate = part(0), linear = part(1);
  const double limit =
      c.Float("swiglu_limit", std::numeric_limits<double>::infinity());
  if (limit < std::numeric_limits<double>::infinity()) {
    gate = k.Call("minimum", {gate, k.Like(gate, limit)});
    Attrs bounds;
    bounds.Set("min", -limit);
    bounds.Set("max", limit);
    linear = k.Call("clip", {linear}, std::move(bounds));
  }
  Attrs alpha;
  alpha.Set("alpha", c.Float("activation_alpha", 1));
  return k.Mul(k.Call("swish", {gate}, std::move(alpha)),
               k.Add(linear, c.Float("activation_beta", 0)));
}

absl::StatusOr<Value> Activate(Compose& k, Value x, const Sizes& sizes) {
  NodeContext& c = k.context();
  const std::string name = c.String("activation_type", "relu");
  if (name == "swiglu") return SwiGlu(k, x, sizes.inner);
  if (name == "identity") return x;
  if (name == "relu") return k.Call("relu", {x});
  if (name == "silu") return k.Call("swish", {x});
  if (name == "gelu") {
    Attrs attrs;
    attrs.Set("approximate", std::string("tanh"));
    return k.Call("gelu", {x}, std::move(attrs));
  }
  return c.NotSupported("activation_type '", name, "'");
}

// Reads the sizes off x and the operands, whose weights hold `packed` numbers
// in an element.
absl::StatusOr<Sizes> ReadSizes(Compose& k, const Value& x,
                                const LayerOperands& second, int64_t packed) {
  NodeContext& c = k.context();
  const Value w = k.Input(second.weights);
  INGOT_RETURN_IF_ERROR(k.status());
  Sizes sizes;
  const auto shape = relay::ConstShape(ShapeOf(w));
  if (!shape || shape->size() != 3 ||
      !tir::AsConstInt(ShapeOf(x).back(), &sizes.hidden)) {
    return c.NotSupported("operands ", relay::ToString(x.type()), " and ",
                          relay::ToString(w.type()));
  }
  constexpr int64_t kMost = 1 << 20;
  sizes.experts = (*shape)[0];
  for (int64_t extent :
       {sizes.experts, sizes.hidden, (*shape)[1], (*shape)[2]}) {
    if (extent < 1 || extent > kMost) {
      return c.Error("operands ", relay::ToString(x.type()), " and ",
                     relay::ToString(w.type()));
    }
  }
  sizes.inner = (*shape)[1] * (*shape)[2] * packed / sizes.hidden;
  if (sizes.inner < 1) return c.Error("weights ", relay::ToString(w.type()));
  return sizes;
}

absl::Status Experts(NodeContext& c, const LayerOperands& first,
                     const LayerOperands& second, int third, int64_t packed,
                     const RouterOperands& router) {
  if (c.has_input(third)) return c.NotSupported("a third layer");
  const std::string activation = c.String("activation_type", "relu");
  const bool gated = activation == "swiglu";
  if (gated && c.Int("swiglu_fusion", 0) != 1) {
    return c.NotSupported("swiglu_fusion=", c.Int("swiglu_fusion", 0));
  }
  Compose k(c);
  const Value given = k.Input(0);
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(given) != 2 && RankOf(given) != 3) {
    return c.Error("the operand is ", relay::ToString(given.type()));
  }
  INGOT_ASSIGN_OR_RETURN(const Sizes sizes,
                         ReadSizes(k, given, second, packed));
  INGOT_ASSIGN_OR_RETURN(const Routes routes, ReadRoutes(k, router));
  const tir::Expr calls = SimplifyDim(routes.rows * routes.k);
  Value x =
      k.Reshape(k.Cast(given, kF32), {routes.rows, I(1), I(sizes.hidden)});
  x = k.Expand(x, {routes.rows, I(routes.k), I(sizes.hidden)});
  x = k.Reshape(x, {calls, I(sizes.hidden)});
  INGOT_ASSIGN_OR_RETURN(
      Value y, Layer(k, x, routes, first, sizes.experts,
                     gated ? 2 * sizes.inner : sizes.inner, sizes.hidden));
  INGOT_ASSIGN_OR_RETURN(y, Activate(k, y, sizes));
  INGOT_ASSIGN_OR_RETURN(
      y, Layer(k, y, routes, second, sizes.experts, sizes.hidden, sizes.inner));
  y = k.Reshape(y, {routes.rows, I(routes.k), I(sizes.hidden)});
  y = k.Reduce("reduce_sum", k.Mul(y, routes.weights), {1}, /*keepdims=*/false);
  c.SetOutput(0, k.Cast(k.Reshape(y, ShapeOf(given)), given.type().dtype));
  return k.status();
}

absl::Status MixtureOfExperts(NodeContext& c) {
  return Experts(c, {2, -1, 3}, {4, -1, 5}, /*third=*/6, /*packed=*/1, {});
}

absl::Status QuantizedMixtureOfExperts(NodeContext& c) {
  constexpr int kZeroPoints = 11, kRouterWeights = 14;
  for (int i = kZeroPoints; i < kRouterWeights; ++i) {
    if (c.has_input(i)) return c.NotSupported("zero points of experts");
  }
  if (const std::string type = c.String("quant_type", "int"); type != "int") {
    return c.NotSupported("quant_type '", type, "'");
  }
  const int64_t bits = c.Int("expert_weight_bits", 4);
  return Experts(c, {2, 3, 4}, {5, 6, 7}, /*third=*/8,
                 /*packed=*/bits >= 1 && bits <= 8 ? 8 / bits : 1,
                 {kRouterWeights, /*normalized=*/true});
}

}  // namespace

void AddMicrosoftExpertsConverters(ConverterTable* t) {
  t->Add("MoE", 1, &MixtureOfExperts, kMicrosoftDomain);
  t->Add("QMoE", 1, &QuantizedMixtureOfExperts, kMicrosoftDomain);
}

}  // namespace ingot::onnx_frontend
