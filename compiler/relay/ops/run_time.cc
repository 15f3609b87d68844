// Operators whose results' shapes depend on the elements of their operands, and
// what gives such a dimension its value.
#include <algorithm>
#include <utility>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {
namespace {

absl::Status ExpectI64Vector(const TensorType& type, size_t elements) {
  int64_t extent = 1;
  if (type.dtype != DataType::Int(64) || type.shape.size() > 1 ||
      (type.shape.size() == 1 && !ConstDim(type.shape[0], &extent)) ||
      extent != static_cast<int64_t>(elements)) {
    return Invalid("needs ", elements, " i64 elements, not ", ToString(type));
  }
  return absl::OkStatus();
}

OpDef BindDims() {
  OpDef def;
  def.name = "bind_dims";
  def.doc =
      "binds symbols to x's elements; returns an empty tensor with that shape";
  def.step = ExecutorStep::kBindDims;
  def.attrs = {
      ShapeAttr("symbols", "new ones, one per element of x", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    Shape shape = c.attrs.Get<Shape>("symbols");
    INGOT_RETURN_IF_ERROR(ExpectI64Vector(c.type(0), shape.size()));
    for (const Dim& dim : shape) {
      const auto* var = tir::As<tir::Var>(dim);
      if (var == nullptr || var->name.empty() || var->name[0] != '?') {
        return Invalid("symbols must be names that begin with '?'");
      }
    }
    shape.push_back(I64(0));
    return Types{{DataType::Bool(), shape}};
  };
  return def;
}

OpDef NonZero() {
  OpDef def;
  def.name = "nonzero";
  def.doc = "the indices of x's true elements, one per column, in their order";
  def.max_inputs = -1;  // after x: values whose shapes bind symbols
  def.attrs = {ShapeAttr("count", "[how many of x are true]", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType& x = c.type(0);
    const Shape& count = c.attrs.Get<Shape>("count");
    if (!x.dtype.is_bool()) return Invalid("x must be bool");
    if (count.size() != 1) return Invalid("count must be one number");
    // One row for a scalar, as numpy has it.
    const int64_t rank = std::max<int64_t>(x.shape.size(), 1);
    return Types{{DataType::Int(64), {I64(rank), count[0]}}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const Shape& shape = c.outputs[0].shape;
    return c.graph.Extern(
        c.name, {shape}, {DataType::Int(64)}, {x},
        [&](absl::Span<const te::Tensor> out) {
          const Cell found("found", DataType::Int(64));
          return WithCells(
              {&found}, LoopNest(x.shape(), "i", [&](const Indices& i) {
                std::vector<Stmt> stores;
                for (size_t d = 0; d < i.size(); ++d) {
                  stores.push_back(MakeStore(
                      out[0].buffer,
                      {I64(static_cast<int64_t>(d)), found.value()}, i[d]));
                }
                if (i.empty()) {
                  stores.push_back(MakeStore(out[0].buffer,
                                             {I64(0), found.value()}, I64(0)));
                }
                stores.push_back(found.Increment());
                return MakeIf(And(x(i), Lt(found.value(), shape[1])),
                              tir::MakeSeq(std::move(stores)));
              }));
        });
  };
  return def;
}

OpDef ResolveShape() {
  OpDef def;
  def.name = "resolve_shape";
  def.doc =
      "the dimensions that a reshape to x makes: its 0 is the dimension of "
      "what is reshaped, its -1 what is left";
  def.min_inputs = def.max_inputs = 2;
  def.attrs = {
      IntAttr("allowzero", "whether 0 is an extent, not the operand's", 0)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    for (int i = 0; i < 2; ++i) {
      int64_t extent;
      const TensorType& t = c.type(i);
      if (t.dtype != DataType::Int(64) || t.shape.size() != 1 ||
          !ConstDim(t.shape[0], &extent) || extent > 64) {
        return Invalid("needs short vectors of i64, not ", ToString(t));
      }
    }
    return Types{c.type(0)};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], from = c.inputs[1];
    int64_t rank = 0, from_rank = 0;
    ConstDim(x.shape()[0], &rank);
    ConstDim(from.shape()[0], &from_rank);
    const bool allow_zero = c.attrs.Get<int64_t>("allowzero") != 0;
    Expr elements = I64(1);
    for (int64_t d = 0; d < from_rank; ++d) {
      elements = elements * from({I64(d)});
    }
    auto explicit_dim = [&](const Expr& d) {
      const Expr v = x({d});
      if (allow_zero || from_rank == 0) return v;
      const Expr own = from({Min(d, I64(from_rank - 1))});
      return MakeSelect(And(Eq(v, I64(0)), Lt(d, I64(from_rank))), own, v);
    };
    Expr others = I64(1);
    for (int64_t d = 0; d < rank; ++d) {
      const Expr v = explicit_dim(I64(d));
      others = others * MakeSelect(Eq(v, I64(-1)), I64(1), v);
    }
    // If nothing is left to divide by, -1 stays, which is refused as an extent.
    const Expr rest =
        MakeSelect(Eq(others, I64(0)), I64(-1),
                   elements / MakeSelect(Eq(others, I64(0)), I64(1), others));
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          const Expr v = explicit_dim(i[0]);
          return MakeSelect(Eq(v, I64(-1)), rest, v);
        })};
  };
  return def;
}

// Returns the common length of short vectors of i64.
absl::StatusOr<int64_t> CommonLength(const InferContext& c) {
  int64_t length = -1;
  for (const Value& input : c.inputs) {
    int64_t extent;
    const TensorType& t = input.type();
    if (t.dtype != DataType::Int(64) || t.shape.size() != 1 ||
        !ConstDim(t.shape[0], &extent) || extent > 64 ||
        (length >= 0 && extent != length)) {
      return Invalid("needs vectors of i64 of one length, not ", ToString(t));
    }
    length = extent;
  }
  return length;
}

OpDef ResolveSlice() {
  OpDef def;
  def.name = "resolve_slice";
  def.doc =
      "for starts, ends and extents of axes: the first positions, then how "
      "many elements a slice takes; negative ones count from the end";
  def.min_inputs = def.max_inputs = 3;
  def.attrs = {IntsAttr("steps", "one an axis, not 0", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_ASSIGN_OR_RETURN(const int64_t length, CommonLength(c));
    const auto& steps = c.attrs.Get<std::vector<int64_t>>("steps");
    if (static_cast<int64_t>(steps.size()) != length ||
        std::count(steps.begin(), steps.end(), 0) > 0) {
      return Invalid("needs ", length, " steps, none of them 0");
    }
    return Types{{DataType::Int(64), {I64(2 * length)}}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor starts = c.inputs[0], ends = c.inputs[1],
                     extents = c.inputs[2];
    const auto& steps = c.attrs.Get<std::vector<int64_t>>("steps");
    const int64_t n = static_cast<int64_t>(steps.size());
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          const Indices k = {i[0] % I64(std::max<int64_t>(n, 1))};
          Expr step = I64(1);
          for (int64_t j = 0; j < n; ++j) {
            // |step| beyond any extent: one element.
            constexpr int64_t kFar = int64_t{1} << 40;
            const int64_t s = std::min(std::max(steps[j], -kFar), kFar);
            step = MakeSelect(Eq(k[0], I64(j)), I64(s), step);
          }
          const Expr extent = extents(k);
          const Expr forward = Gt(step, I64(0));
          auto place = [&](const Expr& v, int64_t low_if_back) {
            const Expr at = MakeSelect(Lt(v, I64(0)), v + extent, v);
            const Expr high = MakeSelect(forward, extent, extent - 1);
            const Expr low = MakeSelect(forward, I64(0), I64(low_if_back));
            return Max(Min(at, high), low);
          };
          const Expr start = place(starts(k), 0), end = place(ends(k), -1);
          const Expr span = MakeSelect(forward, end - start, start - end);
          const Expr size = MakeSelect(forward, step, -step);
          const Expr count =
              MakeSelect(Le(span, I64(0)), I64(0), (span - 1) / size + 1);
          return MakeSelect(Lt(i[0], I64(n)), start, Min(count, extent));
        })};
  };
  return def;
}

OpDef RangeCount() {
  OpDef def;
  def.name = "range_count";
  def.doc =
      "how many numbers there are from start, by steps of delta, before limit";
  def.min_inputs = def.max_inputs = 3;
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    for (int i = 0; i < 3; ++i) {
      if (!c.type(i).shape.empty() || c.type(i).dtype != c.type(0).dtype) {
        return Invalid("needs three scalars of one type");
      }
    }
    INGOT_RETURN_IF_ERROR(ExpectNumber(c.type(0), "start"));
    return Types{{DataType::Int(64), {}}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const DataType i64 = DataType::Int(64);
    return Tensors{c.graph.Compute(c.name, {}, [&](const Indices&) {
      // Floats as ONNX's own function has it: a difference that is rounded
      // may be the whole number that it is meant to be.
      const DataType own = c.inputs[0].dtype();
      const DataType t = own.is_float() ? ComputeType(own) : i64;
      const Expr start = tir::MakeCast(t, c.inputs[0]({})),
                 limit = tir::MakeCast(t, c.inputs[1]({})),
                 delta = tir::MakeCast(t, c.inputs[2]({}));
      const Expr zero = tir::MakeConst(t, 0), one = tir::MakeConst(t, 1);
      // Without a step there is no number: -1, which is refused as an extent.
      const Expr none = Eq(delta, zero);
      const Expr step = MakeSelect(none, one, delta);
      Expr count;
      if (t.is_float()) {
        count = tir::MakeCast(i64, tir::MakeCall(tir::Intrinsic::kCeil,
                                                 {(limit - start) / step}));
      } else {
        const Expr up = Gt(step, zero);
        const Expr span = MakeSelect(up, limit - start, start - limit);
        const Expr size = MakeSelect(up, step, zero - step);
        count = MakeSelect(Le(span, zero), zero, (span - 1) / size + 1);
      }
      return MakeSelect(none, I64(-1), Max(count, I64(0)));
    })};
  };
  return def;
}

}  // namespace

absl::Status RegisterRunTime(OpRegistry* registry) {
  return RegisterAllOf(registry, {BindDims(), NonZero(), ResolveShape(),
                                  ResolveSlice(), RangeCount()});
}

}  // namespace ingot::relay::ops
