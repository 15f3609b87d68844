// Running sums and products.
#include "compiler/relay/dim.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {
namespace {

constexpr int kAxis = 1;  // the operand

struct Kind {
  const char* name;
  const char* doc;
  double start;
  tir::BinaryOp step;
};

// So many running results are made side by side: of neighbours in memory, whose
// results stay in the nearest cache, or of rows that are run along themselves,
// enough to hide how long an addition takes.
constexpr int64_t kColumns = 1024, kRows = 8;

// Calls `body` for blocks of `size` places and for what is left, with the first
// place of each and how many it has.
Stmt InBlocks(
    const Dim& extent, int64_t size,
    const std::function<Stmt(const Expr& first, const Dim& count)>& body) {
  const Dim blocks = SimplifyDim(FloorDiv(extent, size));
  const Dim rest = SimplifyDim(extent - blocks * size);
  std::vector<Stmt> all;
  if (!tir::IsConstInt(blocks, 0)) {
    all.push_back(Loop("b", blocks, [&](const Expr& block) {
      return body(block * I64(size), I64(size));
    }));
  }
  if (!tir::IsConstInt(rest, 0)) {
    all.push_back(MakeIf(Gt(rest, I64(0)), body(blocks * size, rest)));
  }
  return MakeSeq(std::move(all));
}

// Runs along one axis of x.
class Running {
 public:
  Running(const ComputeContext& c, const Kind& kind, const te::Tensor& out,
          int axis)
      : x_(c.inputs[0]),
        kind_(kind),
        out_(out),
        axis_(axis),
        is_exclusive_(c.attrs.Get<int64_t>("exclusive") != 0),
        is_reverse_(c.attrs.Get<int64_t>("reverse") != 0) {}

  Stmt Write() const {
    // The dimension of the results that are made side by side.
    const int last = x_.rank() - 1, side = axis_ == last ? last - 1 : last;
    const int64_t size = axis_ == last ? kRows : kColumns;
    Shape others = x_.shape();
    others[axis_] = I64(1);
    if (side >= 0) others[side] = I64(1);
    return LoopNest(others, "o", [&](const Indices& i) {
      if (side < 0) return Block(i, side, 1, I64(1));
      return InBlocks(x_.shape()[side], size,
                      [&](const Expr& first, const Dim& count) {
                        Indices at = i;
                        at[side] = first;
                        return Block(at, side, size, count);
                      });
    });
  }

 private:
  // Makes `count` results, at most `room`, side by side along the dimension
  // `side`, or the only one.
  Stmt Block(const Indices& from, int side, int64_t room,
             const Dim& count) const {
    const DataType acc = ComputeType(x_.dtype());
    const tir::Buffer total = Scratch("total", acc, room);
    const auto each = [&](const std::function<Stmt(const Expr&)>& body) {
      return Loop("s", count, body);
    };
    const Stmt start = each([&](const Expr& s) {
      return MakeStore(total, {s}, MakeConst(acc, kind_.start));
    });
    const Dim extent = x_.shape()[axis_];
    const Stmt scan = Loop("e", extent, [&](const Expr& e) {
      return each([&](const Expr& s) {
        Indices at = from;
        if (side >= 0) at[side] = at[side] + s;
        at[axis_] = is_reverse_ ? extent - 1 - e : e;
        const Expr so_far = MakeLoad(total, {s});
        const Stmt add = MakeStore(
            total, {s},
            tir::MakeBinary(kind_.step, so_far, MakeCast(acc, x_(at))));
        const Stmt put =
            MakeStore(out_.buffer, at, MakeCast(x_.dtype(), so_far));
        return is_exclusive_ ? MakeSeq({put, add}) : MakeSeq({add, put});
      });
    });
    return tir::MakeAllocate(total, MakeSeq({start, scan}));
  }

  const te::Tensor x_;
  const Kind& kind_;
  const te::Tensor out_;
  const int axis_;
  const bool is_exclusive_, is_reverse_;
};

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
      return Running(c, kind, out[0], axis).Write();
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
