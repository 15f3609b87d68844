// Operators on matrices that take more than products.
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {
namespace {

// Elimination with the largest pivot of each column, on the n x n matrix `a`,
// which it destroys; the product of the pivots, with the sign of the row swaps.
class Elimination {
 public:
  Elimination(const tir::Buffer& a, const Expr& n)
      : a_(a), n_(n), acc_(a->dtype) {}

  Stmt Start() const { return product_.Set(MakeConst(acc_, 1)); }
  Stmt Columns() const {
    return Loop("k", n_, [&](const Expr& k) { return Column(k); });
  }
  Expr product() const { return product_.value(); }

  // `body` with room for the numbers that this keeps.
  Stmt Allocate(Stmt body) const {
    for (const Cell* cell : {&product_, &best_, &row_}) {
      body = tir::MakeAllocate(cell->buffer(), body);
    }
    return body;
  }

 private:
  // A loop from `first` up to n.
  Stmt Below(absl::string_view stem, const Expr& first,
             const std::function<Stmt(const Expr&)>& body) const {
    return Loop(stem, Max(n_ - first, I64(0)),
                [&](const Expr& d) { return body(first + d); });
  }

  Stmt Column(const Expr& k) const {
    const Expr pivot_row = row_.value();
    const Stmt find = FindPivot(k);
    const Stmt swap = SwapRows(k, pivot_row);
    const Expr pivot = MakeLoad(a_, {k, k});
    const Expr so_far = product_.value();
    const Expr sign =
        MakeSelect(Eq(pivot_row, k), MakeConst(acc_, 1), MakeConst(acc_, -1));
    const Stmt multiply = product_.Set(so_far * (pivot * sign));
    const Stmt eliminate = Eliminate(k, pivot);
    return MakeSeq(
        {best_.Set(MakeConst(acc_, 0)), row_.Set(k), find, swap, multiply,
         tir::MakeIf(tir::Ne(pivot, MakeConst(acc_, 0)), eliminate)});
  }

  Stmt FindPivot(const Expr& k) const {
    return Below("r", k, [&](const Expr& r) {
      const Expr size = MakeCall(Intrinsic::kAbs, {MakeLoad(a_, {r, k})});
      return tir::MakeIf(Gt(size, best_.value()),
                         MakeSeq({best_.Set(size), row_.Set(r)}));
    });
  }

  // Row k is not needed any more: the pivot's row goes there, and row k takes
  // its place.
  Stmt SwapRows(const Expr& k, const Expr& pivot_row) const {
    return Below("j", k, [&](const Expr& j) {
      const tir::VarPtr held = tir::MakeVar("held", acc_);
      return tir::MakeLet(
          held, MakeLoad(a_, {k, j}),
          MakeSeq({MakeStore(a_, {k, j}, MakeLoad(a_, {pivot_row, j})),
                   MakeStore(a_, {pivot_row, j}, held)}));
    });
  }

  Stmt Eliminate(const Expr& k, const Expr& pivot) const {
    return Below("r", k + 1, [&](const Expr& r) {
      const tir::VarPtr factor = tir::MakeVar("factor", acc_);
      return tir::MakeLet(
          factor, MakeLoad(a_, {r, k}) / pivot,
          Below("j", k + 1, [&](const Expr& j) {
            return MakeStore(
                a_, {r, j},
                MakeLoad(a_, {r, j}) - Expr(factor) * MakeLoad(a_, {k, j}));
          }));
    });
  }

  const tir::Buffer a_;
  const Expr n_;
  const DataType acc_;
  const Cell product_{"product", acc_};
  const Cell best_{"best", acc_};
  const Cell row_{"row", DataType::Int(64)};
};

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
    // Products that nearly cancel leave few of f32's digits.
    const DataType t = x.dtype(), acc = DataType::Float(64);
    const Expr n = x.shape()[rank - 1];
    const Shape batch(x.shape().begin(), x.shape().end() - 2);
    std::vector<te::Tensor> out = c.graph.Extern(
        c.name, {batch, {n, n}}, {t, acc}, {x},
        [&](absl::Span<const te::Tensor> results) {
          const tir::Buffer a = results[1].buffer;
          const Elimination elimination(a, n);
          return LoopNest(batch, "b", [&](const Indices& b) {
            const Stmt copy = LoopNest({n, n}, "c", [&](const Indices& i) {
              Indices at = b;
              at.insert(at.end(), i.begin(), i.end());
              return MakeStore(a, i, MakeCast(acc, x(at)));
            });
            return elimination.Allocate(
                MakeSeq({copy, elimination.Start(), elimination.Columns(),
                         MakeStore(results[0].buffer, b,
                                   MakeCast(t, elimination.product()))}));
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
