#include "compiler/frontends/onnx/ml/pairwise.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/branches.h"
#include "compiler/frontends/onnx/ml/rows.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"

namespace ingot::onnx_frontend {
namespace {

constexpr int64_t kMostIterations = 100;

// share[rows, i, j]: how likely class i is where it is i or j; 0 where i is j.
Value SharesOfPairs(Compose& k, Value logits, int64_t classes) {
  constexpr double kLeast = 1e-7;
  const int64_t pairs = classes * (classes - 1) / 2;
  Attrs limits;
  limits.Set("min", kLeast);
  limits.Set("max", 1 - kLeast);
  const Value second = k.Call("sigmoid", {logits});
  const Value first =
      k.Call("clip", {k.Sub(k.Like(second, 1), second)}, std::move(limits));
  if (!k.ok()) return Value{};
  std::vector<int64_t> columns(classes * classes, 2 * pairs);
  int64_t pair = 0;
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      columns[i * classes + j] = pair;
      columns[j * classes + i] = pairs + pair;
    }
  }
  const tir::Expr& rows = ShapeOf(logits)[0];
  const Value all =
      k.Concat({first, k.Sub(k.Like(first, 1), first),
                k.Full(first.type().dtype, {rows, tir::MakeInt(1)}, 0)},
               1);
  Attrs axis;
  axis.Set("axis", int64_t{1});
  const Value list = k.Constant(
      MakeTensor<int64_t>(DataType::Int(64), {classes * classes}, columns));
  return k.Reshape(k.Call("gather", {all, list}, std::move(axis)),
                   {rows, tir::MakeInt(classes), tir::MakeInt(classes)});
}

// The matrix Q of which p Q p is least, [rows, classes, classes].
Value Quadratic(Compose& k, Value shares, int64_t classes) {
  const Value across = k.Transpose(shares, {0, 2, 1});
  std::vector<double> ones(classes * classes, 0);
  for (int64_t i = 0; i < classes; ++i) ones[i * classes + i] = 1;
  const Value squares = k.Reduce("reduce_sum_square", across, {2});
  return k.Sub(k.Mul(squares, Numbers(k, ones, {classes, classes})),
               k.Mul(shares, across));
}

Value Column(Compose& k, Value x, int64_t i) {
  return k.Slice(x, 1, tir::MakeInt(i), tir::MakeInt(i + 1));
}

// One round over all classes, from p [rows, classes] to the next p; rows that
// are near enough stay. `*go_on` gets whether one of them was not.
Value Improve(Compose& k, Value p, Value q, int64_t classes, Value* go_on) {
  if (!k.ok()) return Value{};
  const tir::Expr &rows = ShapeOf(p)[0], n = tir::MakeInt(classes);
  Value qp = k.Reduce("reduce_sum", k.Mul(q, k.Reshape(p, {rows, I(1), n})),
                      {2}, /*keepdims=*/false);
  Value pqp = k.Reduce("reduce_sum", k.Mul(p, qp), {1});
  const Value error =
      k.Reduce("reduce_max", k.Call("abs", {k.Sub(qp, pqp)}), {1});
  const Value is_far =
      k.Call("greater_equal",
             {error, k.Like(error, 0.005 / static_cast<double>(classes))});
  *go_on = k.Reshape(
      k.Cast(k.Reduce("reduce_max", k.Cast(is_far, DataType::UInt(8)), {0, 1}),
             DataType::Bool()),
      {});
  for (int64_t i = 0; i < classes && k.ok(); ++i) {
    const Value row = k.Reshape(Column(k, q, i), {rows, n});
    const Value own = Column(k, row, i), qp_i = Column(k, qp, i);
    const Value step = k.Div(k.Sub(pqp, qp_i), own);
    const Value diff = k.Call("where", {is_far, step, k.Like(step, 0)});
    const Value scale = k.Add(diff, 1);
    std::vector<double> is_i(classes, 0);
    is_i[i] = 1;
    p = k.Div(k.Add(p, k.Mul(diff, Numbers(k, is_i, {1, classes}))), scale);
    const Value more = k.Add(k.Mul(diff, own), k.Mul(qp_i, 2));
    pqp = k.Div(k.Div(k.Add(pqp, k.Mul(diff, more)), scale), scale);
    qp = k.Div(k.Add(qp, k.Mul(diff, row)), scale);
  }
  return p;
}

}  // namespace

Value CountVotes(Compose& k, Value decisions, int64_t classes) {
  const int64_t pairs = classes * (classes - 1) / 2;
  // The second class of each pair has its vote, until the first one takes it.
  std::vector<double> of_second(classes, 0), moves(classes * pairs, 0);
  int64_t pair = 0;
  for (int64_t i = 0; i < classes; ++i) {
    of_second[i] = static_cast<double>(i);
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      moves[i * pairs + pair] = 1;
      moves[j * pairs + pair] = -1;
    }
  }
  const Value wins =
      k.Cast(k.Call("greater", {decisions, k.Like(decisions, 0)}),
             DataType::Float(32));
  return k.Add(k.Call("dense", {wins, Numbers(k, moves, {classes, pairs})}),
               Numbers(k, of_second, {classes}));
}

absl::StatusOr<Value> CoupleShares(Compose& k, Value logits, int64_t classes) {
  constexpr int64_t kMostClasses = 64;
  NodeContext& c = k.context();
  if (classes > kMostClasses) {
    return c.NotSupported("probabilities of ", classes, " classes");
  }
  const Value q = Quadratic(k, SharesOfPairs(k, logits, classes), classes);
  INGOT_RETURN_IF_ERROR(k.status());
  const Value start =
      k.Full(q.type().dtype, {ShapeOf(q)[0], tir::MakeInt(classes)},
             1 / static_cast<double>(classes));
  const Value most = k.Take(c.Scalar(DataType::Int(64), kMostIterations));
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(
      const relay::Body body,
      c.builder().BuildBody(absl::StrCat(c.name(), "_body"), [&]() {
        relay::Function* function = c.builder().function();
        function->AddInput("iteration", TensorType{DataType::Int(64), {}});
        const Value p{function->AddInput("shares", start.type())};
        Compose inside(c);
        Value go_on;
        const Value matrix =
            inside.Take(c.builder().Capture(c.builder().current(), q));
        const Value next = Improve(inside, p, matrix, classes, &go_on);
        function->outputs = {go_on, next};
        return inside.status();
      }));
  std::vector<Value> inputs = {most, Value(), start};
  inputs.insert(inputs.end(), body.captured.begin(), body.captured.end());
  Attrs attrs;
  attrs.Set("body", body.name);
  attrs.Set("carried", int64_t{1});
  INGOT_ASSIGN_OR_RETURN(
      relay::Node * loop,
      AddControl(c, relay::NodeKind::kLoop, std::move(inputs), std::move(attrs),
                 {start.type()}));
  return Value{loop, 0};
}

}  // namespace ingot::onnx_frontend
