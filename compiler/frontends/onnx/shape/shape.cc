// Operators that change or tell shapes.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/shape/run_time_axes.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/op.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

Expr Product(const Shape& dims) {
  Expr product = tir::MakeInt(1);
  for (const Expr& d : dims) product = product * d;
  return product;
}

// The product of `dims` divided by that of `by`, which divides it: what both
// have is left out, so that no quotient of symbols stays where none need be.
Expr Quotient(Shape dims, const Shape& by) {
  Shape rest;
  int64_t constant = 1;
  for (const Expr& d : by) {
    int64_t v;
    auto same = std::find_if(dims.begin(), dims.end(), [&](const Expr& e) {
      return relay::SameShape({e}, {d});
    });
    if (same != dims.end()) {
      dims.erase(same);
    } else if (tir::AsConstInt(d, &v)) {
      constant *= v;
    } else {
      rest.push_back(d);
    }
  }
  // Constant factors first: they divide constant factors.
  Expr product = SimplifyDim(Product(dims));
  if (constant != 1) product = product / tir::MakeInt(constant);
  if (!rest.empty()) product = product / Product(rest);
  return SimplifyDim(product);
}

// A target that a run computes: what it leaves open is resolved then too.
absl::StatusOr<Shape> RunTimeTarget(NodeContext& c, const Value& x) {
  INGOT_ASSIGN_OR_RETURN(Value target, c.Input(1));
  if (RankOf(target) != 1 || !relay::ConstShape(ShapeOf(target))) {
    return c.NotSupported("the rank of the result is not known: its shape is ",
                          relay::ToString(target.type()));
  }
  Shape elements = c.builder().current()->known.Integers(target);
  INGOT_ASSIGN_OR_RETURN(target, c.Cast(target, DataType::Int(64)));
  INGOT_ASSIGN_OR_RETURN(
      Value from,
      c.builder().DimsTensor(ShapeOf(x), absl::StrCat(c.name(), "_from")));
  Attrs attrs;
  attrs.Set("allowzero", c.Int("allowzero", 0));
  INGOT_ASSIGN_OR_RETURN(Value resolved, c.Emit("resolve_shape", {target, from},
                                                std::move(attrs), "resolve"));
  INGOT_ASSIGN_OR_RETURN(
      Shape bound,
      c.builder().BindDims(resolved, absl::StrCat(c.name(), "_shape")));
  elements.resize(bound.size());
  for (size_t d = 0; d < bound.size(); ++d) {
    int64_t v;
    const bool open =
        elements[d] == nullptr || (tir::AsConstInt(elements[d], &v) && v <= 0);
    if (!open) bound[d] = elements[d];
  }
  return bound;
}

absl::Status Reshape(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  Shape target;
  if (c.opset() < 5) {
    target = relay::MakeShape(c.Ints("shape"));
  } else if (c.IsRunTimeInput(1)) {
    INGOT_ASSIGN_OR_RETURN(target, RunTimeTarget(c, x));
  } else {
    INGOT_ASSIGN_OR_RETURN(target, c.KnownInts(1, "shape"));
  }
  const bool allow_zero = c.Int("allowzero", 0) != 0;
  int open = -1;
  for (size_t d = 0; d < target.size(); ++d) {
    int64_t v;
    if (!tir::AsConstInt(target[d], &v)) continue;
    if (v == 0 && !allow_zero) {
      if (static_cast<int>(d) >= RankOf(x)) {
        return c.Error("shape has a 0 at ", d, ", where ",
                       relay::ToString(x.type()), " has no dimension");
      }
      target[d] = ShapeOf(x)[d];
    } else if (v == -1) {
      if (open >= 0) return c.Error("shape has two dimensions of -1");
      open = static_cast<int>(d);
    } else if (v < 0) {
      return c.Error("shape has a dimension of ", v);
    }
  }
  if (open >= 0) {
    Shape others = target;
    others.erase(others.begin() + open);
    int64_t numbers = 1;
    for (const Expr& d : others) {
      int64_t v;
      if (!tir::AsConstInt(d, &v)) continue;
      if (v == 0) return c.Error("shape has both 0 and -1");
      if (__builtin_mul_overflow(numbers, v, &numbers)) {
        return c.Error("shape has more elements than a tensor can have");
      }
    }
    const auto from = relay::ConstShape(ShapeOf(x));
    const auto rest = relay::ConstShape(others);
    if (from && rest) {
      INGOT_ASSIGN_OR_RETURN(int64_t all, CountElements(*from));
      INGOT_ASSIGN_OR_RETURN(int64_t part, CountElements(*rest));
      if (part == 0 || all % part != 0) {
        return c.Error(relay::ToString(x.type()), " has ", all,
                       " elements, which ", part, " does not divide");
      }
      target[open] = tir::MakeInt(all / part);
    } else {
      target[open] = Quotient(ShapeOf(x), others);
    }
  }
  INGOT_ASSIGN_OR_RETURN(Value y, c.Reshape(x, target, ""));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status Flatten(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const int rank = RankOf(x);
  int64_t axis = c.Int("axis", 1);
  if (axis < -rank || axis > rank) {
    return c.Error("axis ", axis, " is outside of rank ", rank);
  }
  if (axis < 0) axis += rank;
  const Shape& shape = ShapeOf(x);
  INGOT_ASSIGN_OR_RETURN(
      Value y,
      c.Reshape(
          x,
          {SimplifyDim(Product(Shape(shape.begin(), shape.begin() + axis))),
           SimplifyDim(Product(Shape(shape.begin() + axis, shape.end())))},
          ""));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// The axes of (un)squeeze: an attribute, since operator set 13 an input.
absl::StatusOr<std::vector<int64_t>> AxesOf(NodeContext& c, int rank) {
  std::vector<int64_t> axes;
  if (c.opset() >= 13 && !c.has_attr("axes")) {
    INGOT_ASSIGN_OR_RETURN(axes, c.ConstantInts(1, "axes"));
  } else {
    axes = c.Ints("axes");
  }
  for (int64_t& a : axes) {
    if (a < -rank || a >= rank) {
      return c.Error("axis ", a, " is outside of rank ", rank);
    }
    if (a < 0) a += rank;
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    return c.Error("an axis is given twice");
  }
  return axes;
}

// An attribute of the nodes that stand in branches for a Squeeze without axes:
// whether each dimension is 1 there.
constexpr char kIsOne[] = "_ingot_is_one";
constexpr int64_t kNo = 0, kYes = 1, kRunDecides = 2;
// Each dimension that a run decides on doubles the nodes after the Squeeze.
constexpr size_t kMostThatRunsDecide = 3;

// The node where that is so, as a graph.
std::shared_ptr<const onnx::GraphProto> SqueezeWhere(
    const onnx::NodeProto& node, const std::vector<int64_t>& is_one) {
  auto graph = std::make_shared<onnx::GraphProto>();
  onnx::NodeProto* const copy = graph->add_node();
  *copy = node;
  copy->clear_attribute();  // `axes` is the only other one
  onnx::AttributeProto* const attribute = copy->add_attribute();
  attribute->set_name(kIsOne);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (int64_t answer : is_one) attribute->add_ints(answer);
  graph->add_output()->set_name(node.output(0));
  return graph;
}

// A branch on whether dimension d of x, and so each that is as long, is 1: its
// results differ in rank.
absl::Status SqueezeOrNot(NodeContext& c, const Value& x,
                          const std::vector<int64_t>& is_one, int64_t d) {
  const Shape& shape = ShapeOf(x);
  INGOT_ASSIGN_OR_RETURN(Value dim,
                         c.builder().DimsTensor({shape[d]}, c.name()));
  INGOT_ASSIGN_OR_RETURN(Value one, c.Scalar(DataType::Int(64), 1));
  Branch branch;
  INGOT_ASSIGN_OR_RETURN(branch.condition.value,
                         c.Emit("equal", {dim, one}, {}, "is_one"));
  for (const int64_t answer : {kYes, kNo}) {
    std::vector<int64_t> there = is_one;
    for (size_t e = 0; e < there.size(); ++e) {
      if (relay::Decide(Eq(shape[e], shape[d])).value_or(false)) {
        there[e] = answer;
      }
    }
    branch.graphs[answer == kNo] = SqueezeWhere(c.node(), there);
  }
  c.importer()->RequestSplit(std::move(branch));
  return c.NotSupported("a result whose rank a run decides");
}

// The dimensions of x that are 1; those that a run decides on are a branch.
absl::StatusOr<std::vector<int64_t>> AxesOfOnes(NodeContext& c,
                                                const Value& x) {
  std::vector<int64_t> is_one = c.Ints(kIsOne), open, axes;
  is_one.resize(RankOf(x), kRunDecides);
  for (int d = 0; d < RankOf(x); ++d) {
    const std::optional<bool> decided =
        relay::Decide(Eq(ShapeOf(x)[d], tir::MakeInt(1)));
    if (decided) is_one[d] = *decided ? kYes : kNo;
    if (is_one[d] == kRunDecides) open.push_back(d);
    if (is_one[d] == kYes) axes.push_back(d);
  }
  if (open.size() > kMostThatRunsDecide) {
    return c.NotSupported(
        "without axes the rank of its result depends on dimensions ",
        absl::StrJoin(open, ", "), " of ", relay::ToString(x.type()),
        ", which may be 1 in one run and not in another; give the node "
        "axes, or the model's inputs their shapes (--input-shape)");
  }
  if (open.empty()) return axes;
  return SqueezeOrNot(c, x, is_one, open[0]);
}

absl::Status Squeeze(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  std::vector<int64_t> axes;
  if (c.opset() >= 13 && c.IsRunTimeInput(1)) {
    INGOT_ASSIGN_OR_RETURN(Value y, SqueezeAtRunTime(c, x, 1));
    c.SetOutput(0, y);
    return absl::OkStatus();
  }
  const bool given = c.has_attr("axes") || (c.opset() >= 13 && c.has_input(1));
  if (given) {
    INGOT_ASSIGN_OR_RETURN(axes, AxesOf(c, RankOf(x)));
  } else {
    INGOT_ASSIGN_OR_RETURN(axes, AxesOfOnes(c, x));
  }
  Shape shape;
  for (int d = 0; d < RankOf(x); ++d) {
    if (!std::binary_search(axes.begin(), axes.end(), d)) {
      shape.push_back(ShapeOf(x)[d]);
      continue;
    }
    int64_t extent;
    if (tir::AsConstInt(ShapeOf(x)[d], &extent) && extent != 1) {
      return c.Error("dimension ", d, " of ", relay::ToString(x.type()),
                     " is not 1");
    }
  }
  INGOT_ASSIGN_OR_RETURN(Value y, c.Reshape(x, shape, ""));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status Unsqueeze(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  if (c.opset() >= 13 && c.IsRunTimeInput(1)) {
    INGOT_ASSIGN_OR_RETURN(Value y, UnsqueezeAtRunTime(c, x, 1));
    c.SetOutput(0, y);
    return absl::OkStatus();
  }
  int count = static_cast<int>(c.Ints("axes").size());
  if (c.opset() >= 13 && !c.has_attr("axes")) {
    INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> raw, c.ConstantInts(1, "axes"));
    count = static_cast<int>(raw.size());
  }
  const int rank = RankOf(x) + count;
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> axes, AxesOf(c, rank));
  Shape shape;
  int from = 0;
  for (int d = 0; d < rank; ++d) {
    shape.push_back(std::binary_search(axes.begin(), axes.end(), d)
                        ? tir::MakeInt(1)
                        : ShapeOf(x)[from++]);
  }
  INGOT_ASSIGN_OR_RETURN(Value y, c.Reshape(x, shape, ""));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status Expand(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Shape shape, c.RunTimeInts(1, "shape"));
  for (const Expr& d : shape) {
    int64_t v;
    if (tir::AsConstInt(d, &v) && v < 0) {
      return c.Error("shape has a dimension of ", v);
    }
  }
  Attrs attrs;
  attrs.Set("shape", shape);
  // Symbols that x itself does not bind come with other operands.
  std::vector<Value> operands = {x};
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                         c.builder().DimSources(shape));
  operands.insert(operands.end(), sources.begin(), sources.end());
  return c.Return("expand", operands, std::move(attrs));
}

// The dimensions of the operand, which importing knows even where no run has
// told its elements.
absl::StatusOr<Shape> OperandShape(NodeContext& c) {
  if (c.IsSequence(0)) return c.NotSupported("the operand is not a tensor");
  INGOT_ASSIGN_OR_RETURN(Value x, c.StoredInput(0));
  Shape shape = ShapeOf(x);
  // Without the bytes of each string.
  if (c.storage(0) == StorageType::kText) shape.pop_back();
  return shape;
}

void ReturnKnown(NodeContext& c, Known known) {
  Binding binding;
  binding.known = std::move(known);
  c.SetOutput(0, std::move(binding));
}

absl::Status ShapeOperator(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const Shape shape, OperandShape(c));
  const auto rank = static_cast<int64_t>(shape.size());
  auto clamp = [rank](int64_t v) {
    return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  const int64_t start = clamp(c.Int("start", 0));
  const int64_t end = clamp(c.Int("end", rank));
  Known known{DataType::Int(64), {std::max<int64_t>(end - start, 0)}, {}};
  for (int64_t d = start; d < end; ++d) known.values.push_back({shape[d], 0});
  ReturnKnown(c, std::move(known));
  return absl::OkStatus();
}

absl::Status Size(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const Shape shape, OperandShape(c));
  const Expr size = Product(shape);
  INGOT_RETURN_IF_ERROR(relay::CheckDimSize(size));
  ReturnKnown(c, {DataType::Int(64), {}, {{SimplifyDim(size), 0}}});
  return absl::OkStatus();
}

}  // namespace

void AddShapeConverters(ConverterTable* t) {
  t->Add("Reshape", 1, &Reshape);
  t->Add("Flatten", 1, &Flatten);
  t->Add("Squeeze", 1, &Squeeze);
  t->Add("Unsqueeze", 1, &Unsqueeze);
  t->Add("Expand", 8, &Expand);
  t->Add("Shape", 1, &ShapeOperator);
  t->Add("Size", 1, &Size);
}

}  // namespace ingot::onnx_frontend
