// Operators whose indices are elements of a tensor: gathers, scatters and
// one-hot.
#include <functional>
#include <vector>

#include "compiler/relay/dim.h"
#include "compiler/relay/ops/clamped_load.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {
namespace {

absl::StatusOr<int> AxisOf(const InferContext& c) {
  return NormalizeAxis(c.attrs.Get<int64_t>("axis"),
                       static_cast<int>(c.type(0).shape.size()));
}

int AxisOf(const ComputeContext& c) {
  const int64_t axis = c.attrs.Get<int64_t>("axis");
  return static_cast<int>(axis < 0 ? axis + c.inputs[0].rank() : axis);
}

OpDef Gather() {
  OpDef def;
  def.name = "gather";
  def.doc = "the slices of x along an axis that indices name";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kInjective;
  def.traits = kOperandsInMemory;
  def.attrs = {IntAttr("axis", "dimension that indices count along", 0)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_ASSIGN_OR_RETURN(int axis, AxisOf(c));
    INGOT_RETURN_IF_ERROR(ExpectInteger(c.type(1), "indices"));
    const Shape &x = c.type(0).shape, &indices = c.type(1).shape;
    TensorType out{c.type(0).dtype, Shape(x.begin(), x.begin() + axis)};
    out.shape.insert(out.shape.end(), indices.begin(), indices.end());
    out.shape.insert(out.shape.end(), x.begin() + axis + 1, x.end());
    return Types{out};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], indices = c.inputs[1];
    const int axis = AxisOf(c);
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          const auto first = i.begin() + axis;
          const auto last = first + indices.rank();
          Indices at(i.begin(), first);
          at.push_back(
              SafeIndex(indices(Indices(first, last)), x.shape()[axis]));
          at.insert(at.end(), last, i.end());
          return ClampedLoad(x, at, {axis});
        })};
  };
  return def;
}

OpDef GatherElements() {
  OpDef def;
  def.name = "gather_elements";
  def.doc = "result[i, j] = x[indices[i, j], j], for axis 0 of two dimensions";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kInjective;
  def.traits = kOperandsInMemory;
  def.attrs = {IntAttr("axis", "dimension that indices count along", 0)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(AxisOf(c).status());
    INGOT_RETURN_IF_ERROR(ExpectInteger(c.type(1), "indices"));
    INGOT_RETURN_IF_ERROR(ExpectRank(
        c.type(1), static_cast<int>(c.type(0).shape.size()), "indices"));
    return Types{{c.type(0).dtype, c.type(1).shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], indices = c.inputs[1];
    const int axis = AxisOf(c);
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          Indices at = i;
          std::vector<int> clamped = {axis};
          for (int d = 0; d < x.rank(); ++d) {
            // Indices may be smaller than x elsewhere, but not larger.
            if (d != axis && !SameDim(x.shape()[d], indices.shape()[d])) {
              at[d] = Min(i[d], x.shape()[d] - 1);
              clamped.push_back(d);
            }
          }
          at[axis] = SafeIndex(indices(i), x.shape()[axis]);
          return ClampedLoad(x, at, clamped);
        })};
  };
  return def;
}

// The constant extent of the index vectors of gather_nd and scatter_nd.
absl::StatusOr<int64_t> IndexDepth(const TensorType& x,
                                   const TensorType& indices, int64_t batch) {
  INGOT_RETURN_IF_ERROR(ExpectInteger(indices, "indices"));
  const int64_t rank = static_cast<int64_t>(x.shape.size());
  int64_t depth;
  if (indices.shape.empty() || !ConstDim(indices.shape.back(), &depth)) {
    return absl::UnimplementedError(
        absl::StrCat("the last dimension of indices ", ToString(indices),
                     " must be static"));
  }
  if (batch < 0 || batch >= static_cast<int64_t>(indices.shape.size()) ||
      batch > rank || depth < 1 || depth > rank - batch) {
    return Invalid("indices ", ToString(indices), " with batch_dims=", batch,
                   " do not fit ", ToString(x));
  }
  return depth;
}

OpDef GatherNd() {
  OpDef def;
  def.name = "gather_nd";
  def.doc = "the slices of x that index vectors name";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kInjective;
  def.traits = kOperandsInMemory;
  def.attrs = {IntAttr("batch_dims",
                       "how many leading dimensions x and indices share", 0)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType &x = c.type(0), &indices = c.type(1);
    const int64_t batch = c.attrs.Get<int64_t>("batch_dims");
    INGOT_ASSIGN_OR_RETURN(int64_t depth, IndexDepth(x, indices, batch));
    for (int64_t d = 0; d < batch; ++d) {
      if (!MayBeEqual(x.shape[d], indices.shape[d], c.assumed)) {
        return Invalid("x ", ToString(x), " and indices ", ToString(indices),
                       " differ in their first ", batch, " dimensions");
      }
    }
    TensorType out{x.dtype,
                   Shape(indices.shape.begin(), indices.shape.end() - 1)};
    out.shape.insert(out.shape.end(), x.shape.begin() + batch + depth,
                     x.shape.end());
    return Types{out};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], indices = c.inputs[1];
    const int64_t batch = c.attrs.Get<int64_t>("batch_dims");
    INGOT_ASSIGN_OR_RETURN(
        const int64_t depth,
        IndexDepth({x.dtype(), x.shape()}, {indices.dtype(), indices.shape()},
                   batch));
    const int prefix = indices.rank() - 1;
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          Indices at(i.begin(), i.begin() + batch);
          std::vector<int> clamped;
          for (int64_t k = 0; k < depth; ++k) {
            Indices vector(i.begin(), i.begin() + prefix);
            vector.push_back(I64(k));
            at.push_back(SafeIndex(indices(vector), x.shape()[batch + k]));
            clamped.push_back(static_cast<int>(batch + k));
          }
          at.insert(at.end(), i.begin() + prefix, i.end());
          return ClampedLoad(x, at, clamped);
        })};
  };
  return def;
}

// ----------------------------------------------------------------------
// scatter

// For bools, a sum and a maximum are "or", a product and a minimum "and".
Expr Combine(const std::string& reduction, const Expr& old, const Expr& now) {
  if (old->dtype.is_bool() && reduction != "none") {
    return reduction == "add" || reduction == "max" ? Or(old, now)
                                                    : And(old, now);
  }
  if (reduction == "add") return old + now;
  if (reduction == "mul") return old * now;
  if (reduction == "max") return Max(old, now);
  if (reduction == "min") return Min(old, now);
  return now;
}

absl::Status CheckReduction(const Attrs& attrs) {
  const std::string r = attrs.Get<std::string>("reduction");
  if (r != "none" && r != "add" && r != "mul" && r != "max" && r != "min") {
    return Invalid("there is no reduction '", r, "'");
  }
  return absl::OkStatus();
}

// Copies x, then applies updates one by one in their order. `target` gives the
// place of the update at `i`; updates outside of x are left out.
Tensors Scatter(const ComputeContext& c,
                const std::function<Indices(const Indices& i)>& target) {
  const te::Tensor x = c.inputs[0], updates = c.inputs[2];
  const std::string reduction = c.attrs.Get<std::string>("reduction");
  return c.graph.Extern(
      c.name, {x.shape()}, {x.dtype()}, {c.inputs[0], c.inputs[1], c.inputs[2]},
      [&](absl::Span<const te::Tensor> out) {
        const tir::Buffer y = out[0].buffer;
        const Stmt copy = LoopNest(x.shape(), "c", [&](const Indices& i) {
          return tir::MakeStore(y, i, x(i));
        });
        const Stmt apply =
            LoopNest(updates.shape(), "u", [&](const Indices& i) {
              const Indices raw = target(i);
              Indices at;
              std::vector<Expr> inside;
              for (int d = 0; d < x.rank(); ++d) {
                const Expr e = MakeSelect(Lt(raw[d], I64(0)),
                                          raw[d] + x.shape()[d], raw[d]);
                at.push_back(e);
                inside.push_back(Ge(e, I64(0)));
                inside.push_back(Lt(e, x.shape()[d]));
              }
              return tir::MakeIf(
                  All(inside),
                  tir::MakeStore(
                      y, at,
                      Combine(reduction, tir::MakeLoad(y, at), updates(i))));
            });
        return tir::MakeSeq({copy, apply});
      });
}

OpDef ScatterElements() {
  OpDef def;
  def.name = "scatter_elements";
  def.doc = "x with y[indices[i, j], j] = updates[i, j], for axis 0 of two";
  def.min_inputs = def.max_inputs = 3;
  def.attrs = {IntAttr("axis", "dimension that indices count along", 0),
               StringAttr("reduction", "none, add, mul, max or min", "none")};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(AxisOf(c).status());
    INGOT_RETURN_IF_ERROR(CheckReduction(c.attrs));
    INGOT_RETURN_IF_ERROR(ExpectInteger(c.type(1), "indices"));
    INGOT_RETURN_IF_ERROR(ExpectSameType(c.type(0), c.type(2)));
    const int rank = static_cast<int>(c.type(0).shape.size());
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(1), rank, "indices"));
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(2), rank, "updates"));
    for (int d = 0; d < rank; ++d) {
      if (!MayBeEqual(c.type(1).shape[d], c.type(2).shape[d], c.assumed)) {
        return Invalid("indices ", ToString(c.type(1)), " and updates ",
                       ToString(c.type(2)), " differ in shape");
      }
    }
    return Types{c.type(0)};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const int axis = AxisOf(c);
    return Scatter(c, [&](const Indices& i) {
      Indices at = i;
      at[axis] = MakeCast(DataType::Int(64), c.inputs[1](i));
      return at;
    });
  };
  return def;
}

OpDef ScatterNd() {
  OpDef def;
  def.name = "scatter_nd";
  def.doc = "x with the slices that index vectors name replaced by updates";
  def.min_inputs = def.max_inputs = 3;
  def.attrs = {StringAttr("reduction", "none, add, mul, max or min", "none")};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(CheckReduction(c.attrs));
    INGOT_RETURN_IF_ERROR(ExpectSameType(c.type(0), c.type(2)));
    INGOT_ASSIGN_OR_RETURN(int64_t depth, IndexDepth(c.type(0), c.type(1), 0));
    const Shape &x = c.type(0).shape, &indices = c.type(1).shape;
    Shape expected(indices.begin(), indices.end() - 1);
    expected.insert(expected.end(), x.begin() + depth, x.end());
    bool fits = expected.size() == c.type(2).shape.size();
    for (size_t d = 0; fits && d < expected.size(); ++d) {
      fits = MayBeEqual(expected[d], c.type(2).shape[d], c.assumed);
    }
    if (!fits) {
      return Invalid("updates ", ToString(c.type(2)), " should be ",
                     ToString(TensorType{c.type(2).dtype, expected}));
    }
    return Types{c.type(0)};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor indices = c.inputs[1];
    const int prefix = indices.rank() - 1;
    int64_t depth = 0;
    ConstDim(indices.shape().back(), &depth);
    return Scatter(c, [&](const Indices& i) {
      Indices at;
      for (int64_t k = 0; k < depth; ++k) {
        Indices vector(i.begin(), i.begin() + prefix);
        vector.push_back(I64(k));
        at.push_back(MakeCast(DataType::Int(64), indices(vector)));
      }
      at.insert(at.end(), i.begin() + prefix, i.end());
      return at;
    });
  };
  return def;
}

// -------------------------------------------------------------- one-hot, top-k

OpDef OneHot() {
  OpDef def;
  def.name = "one_hot";
  def.doc =
      "values[1] at the places that indices name along a new axis, "
      "values[0] elsewhere";
  def.min_inputs = 2;
  def.max_inputs = -1;  // after two: values whose shapes bind symbols
  def.fusion = FusionKind::kBroadcast;
  def.attrs = {ShapeAttr("depth", "[extent of the new axis]", kRequired),
               IntAttr("axis", "where it goes", -1)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const int rank = static_cast<int>(c.type(0).shape.size()) + 1;
    INGOT_ASSIGN_OR_RETURN(int axis,
                           NormalizeAxis(c.attrs.Get<int64_t>("axis"), rank));
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(1), 1, "values"));
    if (!MayBeEqual(c.type(1).shape[0], I64(2), c.assumed)) {
      return Invalid("values must be two elements");
    }
    const Shape& depth = c.attrs.Get<Shape>("depth");
    int64_t extent;
    if (depth.size() != 1) return Invalid("depth must be one number");
    if (ConstDim(depth[0], &extent) && extent < 0) {
      return Invalid("depth=", extent);
    }
    TensorType out{c.type(1).dtype, c.type(0).shape};
    out.shape.insert(out.shape.begin() + axis, depth[0]);
    return Types{out};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor indices = c.inputs[0], values = c.inputs[1];
    INGOT_ASSIGN_OR_RETURN(
        const int axis,
        NormalizeAxis(c.attrs.Get<int64_t>("axis"), indices.rank() + 1));
    const Expr depth = c.attrs.Get<Shape>("depth")[0];
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          Indices at = i;
          at.erase(at.begin() + axis);
          const Expr raw = MakeCast(DataType::Int(64), indices(at));
          const Expr hot = MakeSelect(Lt(raw, I64(0)), raw + depth, raw);
          return MakeSelect(Eq(hot, i[axis]), values({I64(1)}),
                            values({I64(0)}));
        })};
  };
  return def;
}

}  // namespace

absl::Status RegisterIndexing(OpRegistry* registry) {
  return RegisterAllOf(registry, {Gather(), GatherElements(), GatherNd(),
                                  ScatterElements(), ScatterNd(), OneHot()});
}

}  // namespace ingot::relay::ops
