// Operators on matrices that take more than products.
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/families.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {
namespace {

using tir::Intrinsic;
using tir::MakeCall;
using tir::MakeCast;
using tir::MakeConst;
using tir::MakeLoad;
using tir::MakeSelect;
using tir::MakeSeq;
using tir::MakeStore;
using tir::Stmt;

// Elimination with the largest pivot of each column, on a copy; the product of
// the pivots, with the sign of the row swaps.
OpDef Det() {
  OpDef def;
  def.name = "det";
  def.doc = "determinants of the square matrices in x's last two dimensions";
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType& x = c.type(0);
    INGOT_RETURN_IF_ERROR(ExpectFloat(x, "the operand"));
    const size_t rank = x.shape.size();
    if (rank < 2 ||
        !MayBeEqual(x.shape[rank - 1], x.shape[rank - 2], c.assumed)) {
      return Invalid("the operand ", ToString(x),
                     " is not made of square matrices");
    }
    return Types{{x.dtype, {x.shape.begin(), x.shape.end() - 2}}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const int rank = x.rank();
    const DataType t = x.dtype(), acc = ComputeType(t), i64 = DataType::Int(64);
    const Expr n = x.shape()[rank - 1];
    const Shape batch(x.shape().begin(), x.shape().end() - 2);
    std::vector<te::Tensor> out = c.graph.Extern(
        c.name, {batch, {n, n}}, {t, acc}, {x},
        [&](absl::Span<const te::Tensor> results) {
          const tir::Buffer a = results[1].buffer;
          const tir::Buffer product = Scratch("product", acc, 1);
          const tir::Buffer best = Scratch("best", acc, 1);
          const tir::Buffer row = Scratch("row", i64, 1);
          const Indices zero = {I64(0)};
          auto abs = [](const Expr& e) {
            return MakeCall(Intrinsic::kAbs, {e});
          };
          auto below = [&](absl::string_view stem, const Expr& first,
                           const std::function<Stmt(const Expr&)>& body) {
            return Loop(stem, Max(n - first, I64(0)),
                        [&](const Expr& d) { return body(first + d); });
          };
          auto column = [&](const Expr& k) {
            const Expr pivot_row = MakeLoad(row, zero);
            const Stmt find = below("r", k, [&](const Expr& r) {
              const Expr size = abs(MakeLoad(a, {r, k}));
              return tir::MakeIf(Gt(size, MakeLoad(best, zero)),
                                 MakeSeq({MakeStore(best, zero, size),
                                          MakeStore(row, zero, r)}));
            });
            // Row k is not needed any more: the pivot's row goes there, and
            // row k takes its place.
            const Stmt swap = below("j", k, [&](const Expr& j) {
              const tir::VarPtr held = tir::MakeVar("held", acc);
              return tir::MakeLet(
                  held, MakeLoad(a, {k, j}),
                  MakeSeq({MakeStore(a, {k, j}, MakeLoad(a, {pivot_row, j})),
                           MakeStore(a, {pivot_row, j}, held)}));
            });
            const Expr pivot = MakeLoad(a, {k, k});
            const Expr so_far = MakeLoad(product, zero);
            const Expr sign = MakeSelect(Eq(pivot_row, k), MakeConst(acc, 1),
                                         MakeConst(acc, -1));
            const Stmt multiply =
                MakeStore(product, zero, so_far * (pivot * sign));
            const Stmt eliminate = below("r", k + 1, [&](const Expr& r) {
              const tir::VarPtr factor = tir::MakeVar("factor", acc);
              return tir::MakeLet(factor, MakeLoad(a, {r, k}) / pivot,
                                  below("j", k + 1, [&](const Expr& j) {
                                    return MakeStore(
                                        a, {r, j},
                                        MakeLoad(a, {r, j}) -
                                            Expr(factor) * MakeLoad(a, {k, j}));
                                  }));
            });
            return MakeSeq(
                {MakeStore(best, zero, MakeConst(acc, 0)),
                 MakeStore(row, zero, k), find, swap, multiply,
                 tir::MakeIf(tir::Ne(pivot, MakeConst(acc, 0)), eliminate)});
          };
          return LoopNest(batch, "b", [&](const Indices& b) {
            const Stmt copy = LoopNest({n, n}, "c", [&](const Indices& i) {
              Indices at = b;
              at.insert(at.end(), i.begin(), i.end());
              return MakeStore(a, i, MakeCast(acc, x(at)));
            });
            Stmt body =
                MakeSeq({copy, MakeStore(product, zero, MakeConst(acc, 1)),
                         Loop("k", n, column),
                         MakeStore(results[0].buffer, b,
                                   MakeCast(t, MakeLoad(product, zero)))});
            for (const tir::Buffer& buffer : {product, best, row}) {
              body = tir::MakeAllocate(buffer, body);
            }
            return body;
          });
        });
    return Tensors{out[0]};
  };
  return def;
}

}  // namespace

absl::Status RegisterLinearAlgebra(OpRegistry* registry) {
  return RegisterAllOf(registry, {Det()});
}

}  // namespace ingot::relay::ops
