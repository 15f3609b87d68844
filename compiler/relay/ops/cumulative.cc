// Running sums and products.
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {
namespace {

using tir::MakeCast;
using tir::MakeConst;
using tir::MakeLoad;
using tir::MakeStore;
using tir::Stmt;

constexpr int kAxis = 1;  // the operand

struct Kind {
  const char* name;
  const char* doc;
  double start;
  tir::BinaryOp step;
};

// Runs along one axis of x.
Stmt Run(const ComputeContext& c, const Kind& kind, const te::Tensor& out,
         int axis) {
  const te::Tensor x = c.inputs[0];
  const bool exclusive = c.attrs.Get<int64_t>("exclusive") != 0;
  const bool reverse = c.attrs.Get<int64_t>("reverse") != 0;
  const DataType acc = ComputeType(x.dtype());
  Shape rows = x.shape();
  const Dim extent = rows[axis];
  rows[axis] = I64(1);
  return LoopNest(rows, "o", [&](const Indices& i) {
    const tir::Buffer total = Scratch("total", acc, 1);
    const Indices zero = {I64(0)};
    const Expr so_far = MakeLoad(total, zero);
    const Stmt scan = Loop("e", extent, [&](const Expr& e) {
      Indices at = i;
      at[axis] = reverse ? extent - 1 - e : e;
      const Stmt add =
          MakeStore(total, zero,
                    tir::MakeBinary(kind.step, so_far, MakeCast(acc, x(at))));
      const Stmt put = MakeStore(out.buffer, at, MakeCast(x.dtype(), so_far));
      return exclusive ? tir::MakeSeq({put, add}) : tir::MakeSeq({add, put});
    });
    return tir::MakeAllocate(
        total, tir::MakeSeq(
                   {MakeStore(total, zero, MakeConst(acc, kind.start)), scan}));
  });
}

absl::StatusOr<Types> Infer(const InferContext& c) {
  INGOT_RETURN_IF_ERROR(ExpectNumber(c.type(0), "the operand"));
  const int rank = static_cast<int>(c.type(0).shape.size());
  if (!c.has(kAxis)) {
    INGOT_RETURN_IF_ERROR(
        NormalizeAxis(c.attrs.Get<int64_t>("axis"), rank).status());
    return Types{c.type(0)};
  }
  if (rank == 0) return Invalid("a scalar has no axis");
  INGOT_RETURN_IF_ERROR(ExpectRank(c.type(kAxis), 0, "axis"));
  INGOT_RETURN_IF_ERROR(ExpectInteger(c.type(kAxis), "axis"));
  return Types{c.type(0)};
}

OpDef Cumulative(const Kind& kind) {
  OpDef def;
  def.name = kind.name;
  def.doc = kind.doc;
  def.max_inputs = 2;
  def.attrs = {
      IntAttr("axis",
              "dimension that indices count along, unless there is an operand "
              "that says it",
              0),
      IntAttr("exclusive", "whether the element itself is left out", 0),
      IntAttr("reverse", "whether it starts at the end", 0)};
  def.infer = &Infer;
  def.compute = [kind](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const auto run = [&](absl::Span<const te::Tensor> out, int axis) {
      return Run(c, kind, out[0], axis);
    };
    if (!c.has(kAxis)) {
      INGOT_ASSIGN_OR_RETURN(
          const int axis,
          NormalizeAxis(c.attrs.Get<int64_t>("axis"), x.rank()));
      return c.graph.Extern(
          c.name, {x.shape()}, {x.dtype()}, {x},
          [&](absl::Span<const te::Tensor> out) { return run(out, axis); });
    }
    // The loops for each axis, one of which runs.
    const te::Tensor axis = c.inputs[kAxis];
    return c.graph.Extern(
        c.name, {x.shape()}, {x.dtype()}, {x, axis},
        [&](absl::Span<const te::Tensor> out) {
          const Expr chosen =
              SafeIndex(MakeCast(DataType::Int(64), axis({})), I64(x.rank()));
          Stmt stmt = run(out, x.rank() - 1);
          for (int d = x.rank() - 2; d >= 0; --d) {
            stmt = tir::MakeIf(Eq(chosen, I64(d)), run(out, d), stmt);
          }
          return stmt;
        });
  };
  return def;
}

}  // namespace

absl::Status RegisterCumulative(OpRegistry* registry) {
  return RegisterAllOf(
      registry, {Cumulative({"cumsum",
                             "running sums of x along an axis; operands x, "
                             "axis?",
                             0, tir::BinaryOp::kAdd}),
                 Cumulative({"cumprod",
                             "running products of x along an axis; operands "
                             "x, axis?",
                             1, tir::BinaryOp::kMul})});
}

}  // namespace ingot::relay::ops
