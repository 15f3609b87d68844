// Decision trees: all rows go down all trees, one branch at a time.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/ml/tree_tables.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"

namespace ingot::onnx_frontend {
namespace {

const DataType kI64 = DataType::Int(64);

enum Aggregate { kAverage = 0, kSum = 1, kMin = 2, kMax = 3 };
enum Transform { kNone = 0, kSoftmax = 1, kLogistic = 2, kSoftmaxZero = 3 };

int64_t Count(const std::vector<int64_t>& v) {
  return static_cast<int64_t>(v.size());
}

Value Longs(Compose& k, const std::vector<int64_t>& values) {
  return k.Constant(MakeTensor<int64_t>(kI64, {Count(values)}, values));
}

Value Numbers(Compose& k, const std::vector<double>& values,
              const std::vector<int64_t>& shape, DataType dtype) {
  return k.Cast(
      k.Constant(MakeTensor<double>(DataType::Float(64), shape, values)),
      dtype);
}

Value At(Compose& k, Value table, Value places) {
  return k.Call("gather", {table, places});
}

// x[..., 1] for x[...].
Value WithOneMore(Compose& k, Value x) {
  if (!k.ok()) return Value{};
  Shape shape = ShapeOf(x);
  shape.push_back(tir::MakeInt(1));
  return k.Reshape(x, shape);
}

Value Or(Compose& k, Value a, Value b) { return k.Call("logical_or", {a, b}); }
Value And(Compose& k, Value a, Value b) {
  return k.Call("logical_and", {a, b});
}

Value IsMember(Compose& k, const TreeTables& trees, Value node, Value x) {
  std::vector<double> flat;
  for (const std::vector<double>& set : trees.members) {
    flat.insert(flat.end(), set.begin(), set.end());
  }
  const int64_t nodes = static_cast<int64_t>(trees.members.size());
  const int64_t length = static_cast<int64_t>(trees.members[0].size());
  const Value sets = Numbers(k, flat, {nodes, length}, trees.dtype);
  const Value same = k.Call("equal", {WithOneMore(k, x), At(k, sets, node)});
  return k.Cast(k.Reduce("reduce_max", k.Cast(same, DataType::UInt(8)), {2},
                         /*keepdims=*/false),
                DataType::Bool());
}

// Whether x, a feature of each node, makes the node's branch true.
Value Decide(Compose& k, const TreeTables& trees, Value node, Value x) {
  static constexpr const char* kRelations[] = {
      "less_equal", "less", "greater_equal", "greater", "equal", "not_equal"};
  std::vector<int64_t> used = trees.modes;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const size_t n = trees.splits.size();
  const Value split =
      At(k, Numbers(k, trees.splits, {static_cast<int64_t>(n)}, trees.dtype),
         node);
  const Value mode = At(k, Longs(k, trees.modes), node);
  Value is_true;
  for (int64_t m : used) {
    const Value now = m == static_cast<int64_t>(BranchMode::kMember)
                          ? IsMember(k, trees, node, x)
                          : k.Call(kRelations[m], {x, split});
    is_true = m == used[0]
                  ? now
                  : k.Call("where", {k.Call("equal", {mode, k.Like(mode, m)}),
                                     now, is_true});
  }
  const std::vector<int64_t>& tracks = trees.nan_is_true;
  if (std::any_of(tracks.begin(), tracks.end(),
                  [](int64_t t) { return t != 0; })) {
    const Value track = k.Cast(At(k, Longs(k, tracks), node), DataType::Bool());
    is_true = Or(k, is_true, And(k, track, k.Call("is_nan", {x})));
  }
  return is_true;
}

// The leaf that each row of x reaches in each tree: [rows, trees].
Value FindLeaves(Compose& k, const TreeTables& trees, Value x) {
  const Value features = Longs(k, trees.features);
  const Value if_true = Longs(k, trees.if_true);
  const Value if_false = Longs(k, trees.if_false);
  Value node = k.Expand(Longs(k, trees.roots),
                        {ShapeOf(x)[0], tir::MakeInt(Count(trees.roots))});
  Attrs columns;
  columns.Set("axis", int64_t{1});
  for (int64_t step = 0; step < trees.depth && k.ok(); ++step) {
    const Value feature =
        k.Call("gather_elements", {x, At(k, features, node)}, columns);
    node = k.Call("where", {Decide(k, trees, node, feature),
                            At(k, if_true, node), At(k, if_false, node)});
  }
  return k.Sub(node, static_cast<double>(trees.num_branches));
}

// Adds what the leaves say for each target: [rows, targets]; 0 where none says
// anything.
Value Add(Compose& k, const TreeTables& trees, Value leaf, int64_t aggregate) {
  const Value weight = At(
      k,
      Numbers(k, trees.leaf_weights, {Count(trees.leaf_targets)}, trees.dtype),
      leaf);
  const Value target = At(k, Longs(k, trees.leaf_targets), leaf);
  const Value is_target = k.Call(
      "equal",
      {WithOneMore(k, target), k.CountUp(tir::MakeInt(trees.num_targets))});
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool is_sum = aggregate == kSum || aggregate == kAverage;
  const Value neutral = k.Full(trees.dtype, {},
                               is_sum              ? 0
                               : aggregate == kMin ? kInfinity
                                                   : -kInfinity);
  const Value parts =
      k.Call("where", {is_target, WithOneMore(k, weight), neutral});
  const Value y = k.Reduce(is_sum              ? "reduce_sum"
                           : aggregate == kMin ? "reduce_min"
                                               : "reduce_max",
                           parts, {1}, /*keepdims=*/false);
  if (aggregate == kSum) return y;
  if (aggregate == kAverage) {
    return k.Div(y, static_cast<double>(trees.roots.size()));
  }
  const Value any =
      k.Reduce("reduce_max", k.Cast(is_target, DataType::UInt(8)), {1},
               /*keepdims=*/false);
  return k.Call("where", {k.Cast(any, DataType::Bool()), y, k.Like(y, 0)});
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

absl::Status TreeEnsemble(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(const TreeTables trees, ReadTrees(c));
  if (RankOf(x) != 2 || x.type().dtype != trees.dtype) {
    return c.Error("the operand is ", relay::ToString(x.type()),
                   " and the splits are ", trees.dtype.ToString());
  }
  int64_t columns;
  const int64_t most =
      *std::max_element(trees.features.begin(), trees.features.end());
  if (tir::AsConstInt(ShapeOf(x)[1], &columns) && most >= columns) {
    return c.Error("there is no feature ", most, " in ",
                   relay::ToString(x.type()));
  }
  const int64_t aggregate = c.Int("aggregate_function", kSum);
  const int64_t transform = c.Int("post_transform", kNone);
  if (aggregate < kAverage || aggregate > kMax) {
    return c.Error("aggregate_function=", aggregate);
  }
  Compose k(c);
  Value y = Add(k, trees, FindLeaves(k, trees, x), aggregate);
  Attrs attrs;
  attrs.Set("axis", int64_t{1});
  switch (transform) {
    case kNone:
      break;
    case kSoftmax:
      y = k.Call("softmax", {y}, std::move(attrs));
      break;
    case kLogistic:
      y = k.Call("sigmoid", {y});
      break;
    case kSoftmaxZero:
      y = SoftmaxZero(k, y);
      break;
    default:
      return c.NotSupported("post_transform=", transform);
  }
  c.SetOutput(0, y);
  return k.status();
}

}  // namespace

void AddTreeEnsembleConverters(ConverterTable* t) {
  t->Add("TreeEnsemble", 5, &TreeEnsemble, kMlDomain);
}

}  // namespace ingot::onnx_frontend
