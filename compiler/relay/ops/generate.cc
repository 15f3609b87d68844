// Tensors made from attributes and shapes alone. Operands, where an operator
// has some, only bind the symbols that its attributes hold.
#include "compiler/relay/ops/common.h"
namespace ingot::relay::ops {
namespace {

using Ints = std::vector<int64_t>;

OpDef Generator(absl::string_view name, absl::string_view doc) {
  OpDef def;
  def.name = std::string(name);
  def.doc = std::string(doc);
  def.min_inputs = 0;
  def.max_inputs = -1;
  def.fusion = FusionKind::kInjective;
  return def;
}

absl::Status CheckElementType(DataType t) {
  if (t.lanes != 1 || t.code == DataType::kHandle) {
    return Invalid("a tensor cannot hold ", t.ToString());
  }
  return absl::OkStatus();
}

OpDef Full() {
  OpDef def = Generator("full", "one value everywhere");
  def.traits = kUniform;
  def.attrs = {ShapeAttr("shape", "of the result", kRequired),
               TypeAttr("dtype", "of the result", kRequired),
               FloatAttr("value", "of every element", 0)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(CheckElementType(c.attrs.Get<DataType>("dtype")));
    return Types{{c.attrs.Get<DataType>("dtype"), c.attrs.Get<Shape>("shape")}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices&) {
          return MakeConst(c.outputs[0].dtype, c.attrs.Get<double>("value"));
        })};
  };
  return def;
}

// values[at - first], found in as many steps as their number has bits.
Expr ValueAt(absl::Span<const Dim> values, const Expr& at, int64_t first,
             DataType dtype) {
  if (values.size() == 1) return MakeCast(dtype, values[0]);
  const size_t half = values.size() / 2;
  const int64_t middle = first + static_cast<int64_t>(half);
  return MakeSelect(Lt(at, I64(middle)),
                    ValueAt(values.subspan(0, half), at, first, dtype),
                    ValueAt(values.subspan(half), at, middle, dtype));
}

OpDef Dims() {
  OpDef def = Generator("dims", "integers computed from dimensions");
  def.attrs = {
      ShapeAttr("values", "the elements, row-major", kRequired),
      IntsAttr("shape", "of the result; a vector of them when left out",
               kOptional),
      TypeAttr("dtype", "of the result", DataType::Int(64))};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const Shape& values = c.attrs.Get<Shape>("values");
    const Ints* const own = c.attrs.Find<Ints>("shape");
    const Ints shape =
        own != nullptr ? *own : Ints{static_cast<int64_t>(values.size())};
    INGOT_ASSIGN_OR_RETURN(int64_t count, CountElements(shape));
    if (count != static_cast<int64_t>(values.size())) {
      return Invalid("shape has ", count, " elements, values ", values.size());
    }
    const DataType t = c.attrs.Get<DataType>("dtype");
    INGOT_RETURN_IF_ERROR(CheckElementType(t));
    return Types{{t, MakeShape(shape)}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const Shape& values = c.attrs.Get<Shape>("values");
    const TensorType& out = c.outputs[0];
    return Tensors{c.graph.Compute(c.name, out.shape, [&](const Indices& i) {
      const Expr at = Flatten(i, out.shape);
      return values.empty() ? MakeConst(out.dtype, 0)
                            : ValueAt(values, at, 0, out.dtype);
    })};
  };
  return def;
}

OpDef Range() {
  OpDef def = Generator("range", "start, start + step, …: `count` of them");
  def.attrs = {ShapeAttr("count", "[how many]", kRequired),
               TypeAttr("dtype", "of the result", kRequired),
               FloatAttr("start", "the first element", 0),
               FloatAttr("step", "distance of two elements", 1)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const Shape& count = c.attrs.Get<Shape>("count");
    if (count.size() != 1) return Invalid("count must be one number");
    const DataType t = c.attrs.Get<DataType>("dtype");
    INGOT_RETURN_IF_ERROR(CheckElementType(t));
    if (t.is_bool()) return Invalid("not defined for bool");
    return Types{{t, count}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const DataType t = c.outputs[0].dtype, acc = ComputeType(t);
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          return MakeCast(t,
                          MakeConst(acc, c.attrs.Get<double>("start")) +
                              MakeCast(acc, i[0]) *
                                  MakeConst(acc, c.attrs.Get<double>("step")));
        })};
  };
  return def;
}

OpDef EyeLike() {
  OpDef def;
  def.name = "eye_like";
  def.doc = "1 on a diagonal and 0 elsewhere, in x's shape";
  def.fusion = FusionKind::kInjective;
  def.attrs = {TypeAttr("dtype", "of the result; x's when left out", kOptional),
               IntAttr("k", "diagonals to the right of the main one", 0)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(0), 2, "x"));
    const DataType* const own = c.attrs.Find<DataType>("dtype");
    const DataType t = own != nullptr ? *own : c.type(0).dtype;
    INGOT_RETURN_IF_ERROR(CheckElementType(t));
    return Types{{t, c.type(0).shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const TensorType& out = c.outputs[0];
    const int64_t k = c.attrs.Get<int64_t>("k");
    return Tensors{c.graph.Compute(c.name, out.shape, [&](const Indices& i) {
      return MakeSelect(Eq(i[1] - i[0], I64(k)), MakeConst(out.dtype, 1),
                        MakeConst(out.dtype, 0));
    })};
  };
  return def;
}

}  // namespace

absl::Status RegisterGenerate(OpRegistry* registry) {
  return RegisterAllOf(registry, {Full(), Dims(), Range(), EyeLike()});
}

}  // namespace ingot::relay::ops
