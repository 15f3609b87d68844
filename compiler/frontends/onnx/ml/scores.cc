#include "compiler/frontends/onnx/ml/scores.h"

#include <map>
#include <utility>

#include "compiler/frontends/onnx/model/tensor_proto.h"
#include "compiler/frontends/onnx/text/text_moves.h"

namespace ingot::onnx_frontend {
namespace {

const DataType kI64 = DataType::Int(64);

Attrs Axis(int64_t axis) {
  Attrs attrs;
  attrs.Set("axis", axis);
  return attrs;
}

// Softmax of what is not 0; the rest stays as small as it is.
Value SoftmaxZero(Compose& k, Value x) {
  const Value most = k.Reduce("reduce_max", x, {1});
  const Value is_some =
      k.Call("greater", {k.Call("abs", {x}), k.Like(x, 1e-7f)});
  const Value small = k.Mul(x, k.Call("exp", {k.Sub(k.Like(most, 0), most)}));
  const Value power = k.Call("exp", {k.Sub(x, most)});
  const Value part = k.Call("where", {is_some, power, k.Like(power, 0)});
  const Value sum = k.Reduce("reduce_sum", part, {1});
  return k.Div(k.Call("where", {is_some, power, small}), sum);
}

// The quantile of a normal distribution, by Winitzki's approximation of the
// error function's inverse, which ONNX's reference has, too.
Value Probit(Compose& k, Value share) {
  constexpr double kA = 0.147;
  const Value x = k.Sub(k.Mul(share, 2), 1);
  const Value log = k.Call("log", {k.Mul(k.Sub(k.Like(x, 1), x), k.Add(x, 1))});
  const Value v = k.Add(k.Mul(log, 0.5), 2 / (3.14159 * kA));
  const Value root = k.Call("sqrt", {k.Sub(k.Mul(v, v), k.Mul(log, 1 / kA))});
  const Value size = k.Call("sqrt", {k.Sub(root, v)});
  const Value sign = k.Call("where", {k.Call("less", {x, k.Like(x, 0)}),
                                      k.Like(x, -1), k.Like(x, 1)});
  return k.Mul(k.Mul(sign, size), 1.41421356237309504880);
}

}  // namespace

absl::StatusOr<Transform> ReadTransform(NodeContext& c) {
  static const auto* const kNames = new std::map<std::string, Transform>{
      {"NONE", Transform::kNone},
      {"SOFTMAX", Transform::kSoftmax},
      {"LOGISTIC", Transform::kLogistic},
      {"SOFTMAX_ZERO", Transform::kSoftmaxZero},
      {"PROBIT", Transform::kProbit},
  };
  const std::string name = c.String("post_transform", "NONE");
  const auto it = kNames->find(name);
  if (it == kNames->end()) {
    return c.Error("there is no post_transform '", name, "'");
  }
  return it->second;
}

Value TransformScores(Compose& k, Value scores, Transform transform) {
  if (!k.ok()) return Value{};
  if (transform != Transform::kProbit &&
      tir::IsConstInt(ShapeOf(scores)[1], 1)) {
    return scores;
  }
  switch (transform) {
    case Transform::kNone:
      return scores;
    case Transform::kSoftmax:
      return k.Call("softmax", {scores}, Axis(1));
    case Transform::kLogistic:
      return k.Call("sigmoid", {scores});
    case Transform::kSoftmaxZero:
      return SoftmaxZero(k, scores);
    case Transform::kProbit:
      return Probit(k, scores);
  }
  return scores;
}

Value ScoresOfTwo(Compose& k, Value score, bool is_share, Transform transform) {
  if (transform == Transform::kProbit) {
    k.Check(k.context().NotSupported(
        "post_transform=PROBIT of one score for two classes"));
  }
  const Value other = k.Call("neg", {score});
  if (transform == Transform::kLogistic) {
    return k.Call("sigmoid", {k.Concat({other, score}, 1)});
  }
  return k.Concat({is_share ? k.Add(other, 1) : other, score}, 1);
}

absl::StatusOr<ClassLabels> ReadLabels(NodeContext& c,
                                       absl::string_view integers) {
  ClassLabels labels;
  labels.strings = c.Strings("classlabels_strings");
  labels.integers = c.Ints(integers);
  labels.is_text = !labels.strings.empty();
  if (labels.strings.empty() == labels.integers.empty()) {
    return c.Error(
        "needs labels of its classes in one of classlabels_strings "
        "and ",
        integers);
  }
  return labels;
}

absl::Status SetLabels(Compose& k, const ClassLabels& labels, Value places) {
  NodeContext& c = k.context();
  if (!c.wants_output(0)) return k.status();
  if (labels.is_text) {
    const Value y = k.Call("gather", {TextConstant(k, labels.strings), places});
    INGOT_RETURN_IF_ERROR(k.status());
    c.SetStoredOutput(0, y, StorageType::kText);
    return absl::OkStatus();
  }
  bool counts_up = true;
  for (size_t i = 0; i < labels.integers.size(); ++i) {
    counts_up = counts_up && labels.integers[i] == static_cast<int64_t>(i);
  }
  const Value list =
      k.Constant(MakeTensor<int64_t>(kI64, {labels.count()}, labels.integers));
  c.SetOutput(0, counts_up ? places : k.Call("gather", {list, places}));
  return k.status();
}

Value LargestOf(Compose& k, Value scores) {
  Attrs attrs = Axis(1);
  attrs.Set("keepdims", int64_t{0});
  return k.Call("argmax", {scores}, std::move(attrs));
}

Value IsAbove(Compose& k, Value score, double limit) {
  if (!k.ok()) return Value{};
  const Value above = k.Call("greater", {score, k.Like(score, limit)});
  return k.Reshape(k.Cast(above, kI64), {ShapeOf(score)[0]});
}

}  // namespace ingot::onnx_frontend
