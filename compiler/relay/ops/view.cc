// Operators that give the same bytes another type: no data moves.
#include "base/status_macros.h"
#include "compiler/relay/ops/common.h"
namespace ingot::relay::ops {
namespace {

OpDef View(absl::string_view name, absl::string_view doc,
           std::vector<AttrSpec> attrs, InferFn infer) {
  OpDef def;
  def.name = std::string(name);
  def.doc = std::string(doc);
  def.fusion = FusionKind::kView;
  def.attrs = std::move(attrs);
  def.infer = std::move(infer);
  return def;
}

absl::StatusOr<Types> InferReshape(const InferContext& c) {
  const TensorType& x = c.type(0);
  const Shape& shape = c.attrs.Get<Shape>("shape");
  const auto from = ConstShape(x.shape), to = ConstShape(shape);
  if (from && to) {
    INGOT_ASSIGN_OR_RETURN(const int64_t a, CountElements(*from));
    INGOT_ASSIGN_OR_RETURN(const int64_t b, CountElements(*to));
    if (a != b) {
      return Invalid(ToString(x), " has ", a, " elements, the shape [",
                     ToString(TensorType{x.dtype, shape}), " ", b);
    }
  }
  return Types{{x.dtype, shape}};
}

// Gives dimensions that the operand only has as symbols the extents that the
// importer knows.
absl::StatusOr<Types> InferFixShape(const InferContext& c) {
  const TensorType& x = c.type(0);
  const Shape& shape = c.attrs.Get<Shape>("shape");
  if (shape.size() != x.shape.size()) {
    return Invalid(ToString(x), " cannot have ", shape.size(), " dimensions");
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!MayBeEqual(x.shape[d], shape[d], c.assumed)) {
      return Invalid("dimension ", d, " of ", ToString(x), " is not that of ",
                     ToString(TensorType{x.dtype, shape}));
    }
  }
  return Types{{x.dtype, shape}};
}

absl::StatusOr<Types> InferSqueeze(const InferContext& c) {
  const TensorType& x = c.type(0);
  INGOT_ASSIGN_OR_RETURN(
      std::vector<int> axes,
      NormalizeAxes(c.attrs.Get<std::vector<int64_t>>("axes"),
                    static_cast<int>(x.shape.size())));
  TensorType out{x.dtype, {}};
  size_t next = 0;
  for (int d = 0; d < static_cast<int>(x.shape.size()); ++d) {
    if (next < axes.size() && axes[next] == d) {
      ++next;
      if (!MayBeEqual(x.shape[d], I64(1), c.assumed)) {
        return Invalid("dimension ", d, " of ", ToString(x), " is not 1");
      }
    } else {
      out.shape.push_back(x.shape[d]);
    }
  }
  return Types{out};
}

absl::StatusOr<Types> InferUnsqueeze(const InferContext& c) {
  const TensorType& x = c.type(0);
  const auto& given = c.attrs.Get<std::vector<int64_t>>("axes");
  const int rank = static_cast<int>(x.shape.size() + given.size());
  INGOT_ASSIGN_OR_RETURN(std::vector<int> axes, NormalizeAxes(given, rank));
  TensorType out{x.dtype, {}};
  size_t next = 0, from = 0;
  for (int d = 0; d < rank; ++d) {
    if (next < axes.size() && axes[next] == d) {
      out.shape.push_back(I64(1));
      ++next;
    } else {
      out.shape.push_back(x.shape[from++]);
    }
  }
  return Types{out};
}

absl::StatusOr<Types> InferBitCast(const InferContext& c) {
  const TensorType& x = c.type(0);
  const DataType to = c.attrs.Get<DataType>("dtype");
  // A bool of other bits than 0 and 1 would be undefined behaviour.
  if (to.bytes() != x.dtype.bytes() || (to.is_bool() && !x.dtype.is_bool())) {
    return Invalid("the bits of ", ToString(x), " are no ",
                   ToString(TensorType{to, {}}));
  }
  return Types{{to, x.shape}};
}

absl::StatusOr<Types> InferFlatten(const InferContext& c) {
  const TensorType& x = c.type(0);
  const int rank = static_cast<int>(x.shape.size());
  int64_t axis = c.attrs.Get<int64_t>("axis");
  if (axis < -rank || axis > rank) {
    return Invalid("axis ", axis, " is outside of rank ", rank);
  }
  if (axis < 0) axis += rank;
  return Types{{x.dtype,
                {Product(x.shape, 0, static_cast<int>(axis)),
                 Product(x.shape, static_cast<int>(axis), rank)}}};
}

}  // namespace

absl::Status RegisterView(OpRegistry* registry) {
  OpDef reshape = View(
      "reshape", "x with another shape of as many elements",
      {ShapeAttr("shape", "the whole shape; no -1", kRequired)}, &InferReshape);
  OpDef fix_shape =
      View("fix_shape",
           "x, its dimensions known to be these: a run checks each of them",
           {ShapeAttr("shape", "the whole shape", kRequired)}, &InferFixShape);
  // The operands after x are values whose shapes bind symbols.
  reshape.max_inputs = fix_shape.max_inputs = -1;
  reshape.layout_rule = LayoutRule::kReshapes;
  return RegisterAllOf(
      registry,
      {std::move(reshape), std::move(fix_shape),
       View("squeeze", "x without some dimensions of 1",
            {IntsAttr("axes", "which", kRequired)}, &InferSqueeze),
       View("unsqueeze", "x with dimensions of 1 put in",
            {IntsAttr("axes", "where, in the result", kRequired)},
            &InferUnsqueeze),
       View("flatten", "x as a matrix",
            {IntAttr("axis", "first of the columns", 1)}, &InferFlatten),
       View("bit_cast", "the bits of x as elements of a type of equal width",
            {TypeAttr("dtype", "of the result", kRequired)}, &InferBitCast),
       View("identity", "x itself", {}, &SameAsFirst)});
}

}  // namespace ingot::relay::ops
