#include "compiler/codegen/access.h"

#include <utility>

#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::As;
using tir::Expr;

// e as base + lane * stride. False when no single stride fits.
bool MatchRamp(const Expr& e, Expr* base, Expr* stride) {
  if (const auto* ramp = As<tir::Ramp>(e)) {
    *base = ramp->base;
    *stride = ramp->stride;
    return true;
  }
  if (const auto* broadcast = As<tir::Broadcast>(e)) {
    *base = broadcast->value;
    *stride = tir::MakeInt(0, broadcast->value->dtype);
    return true;
  }
  const auto* binary = As<tir::Binary>(e);
  if (binary == nullptr) return false;
  const bool is_sum =
      binary->op == tir::BinaryOp::kAdd || binary->op == tir::BinaryOp::kSub;
  if (!is_sum && binary->op != tir::BinaryOp::kMul) return false;
  Expr base_a, stride_a, base_b, stride_b;
  if (!MatchRamp(binary->a, &base_a, &stride_a) ||
      !MatchRamp(binary->b, &base_b, &stride_b)) {
    return false;
  }
  if (is_sum) {
    *base = tir::MakeBinary(binary->op, base_a, base_b);
    *stride = tir::MakeBinary(binary->op, stride_a, stride_b);
    return true;
  }
  if (tir::IsConstInt(stride_a, 0)) {
    *stride = base_a * stride_b;
  } else if (tir::IsConstInt(stride_b, 0)) {
    *stride = stride_a * base_b;
  } else {
    return false;
  }
  *base = base_a * base_b;
  return true;
}

// Elements from one index of `dim` to the next.
Expr StrideOf(const tir::BufferNode& buffer, size_t dim) {
  Expr stride = tir::MakeInt(1);
  for (size_t d = dim + 1; d < buffer.shape.size(); ++d) {
    stride = stride * buffer.shape[d];
  }
  return stride;
}

// How many nodes are looked at before an expression may as well fault. Each
// Select of a large tree of them is asked for its sides, which share its
// leaves.
constexpr int kMaxNodes = 400;

class FaultFinder : public tir::ExprVisitor {
 public:
  explicit FaultFinder(const tir::Bounds& bounds) : bounds_(bounds) {}
  bool found() const { return found_; }

  void Visit(const Expr& e) override {
    if (++nodes_ > kMaxNodes) found_ = true;
    if (!found_) ExprVisitor::Visit(e);
  }

 protected:
  void VisitLoad(const tir::Load& load) override {
    ExprVisitor::VisitLoad(load);
    if (!found_ && !InBounds(*load.buffer, load.indices, bounds_)) {
      found_ = true;
    }
  }
  // A Select guards its loads, but perhaps not against all that the conditions
  // around it do, so they must be safe under its condition alone.
  void VisitSelect(const tir::Select& select) override {
    Visit(select.condition);
    const size_t facts = bounds_.num_facts();
    if (select.dtype.lanes == 1) bounds_.PushFact(select.condition);
    Visit(select.on_true);
    bounds_.PopFacts(facts);
    if (select.dtype.lanes == 1) bounds_.PushFactNot(select.condition);
    Visit(select.on_false);
    bounds_.PopFacts(facts);
  }

 private:
  tir::Bounds bounds_;
  bool found_ = false;
  int nodes_ = 0;
};

bool Within(const Expr& index, const Expr& dim, const tir::Bounds& bounds) {
  return tir::Prove(tir::Ge(index, tir::MakeInt(0)), &bounds) &&
         tir::Prove(tir::Lt(index, dim), &bounds);
}

// An offset, in elements: the simplified sum of what the scalar indices say,
// and that of the others; null where all are scalars.
struct Offset {
  Expr scalar, vector;
  int lanes = 1;

  Expr Sum() const {
    return vector == nullptr ? scalar
                             : vector + tir::MakeBroadcast(scalar, lanes);
  }
};

Offset OffsetOf(const tir::BufferNode& buffer, const std::vector<Expr>& indices,
                const tir::Bounds* bounds) {
  Offset offset;
  for (const Expr& index : indices) {
    if (index->dtype.lanes > 1) offset.lanes = index->dtype.lanes;
  }
  offset.scalar = tir::MakeInt(0);
  for (size_t d = 0; d < indices.size(); ++d) {
    const Expr stride = StrideOf(buffer, d);
    if (indices[d]->dtype.lanes == 1) {
      offset.scalar = offset.scalar + indices[d] * stride;
    } else {
      Expr term = indices[d] * tir::MakeBroadcast(stride, offset.lanes);
      offset.vector = offset.vector == nullptr ? term : offset.vector + term;
    }
  }
  offset.scalar = tir::Simplify(offset.scalar, bounds);
  return offset;
}

}  // namespace

Expr FlattenIndex(const tir::BufferNode& buffer,
                  const std::vector<Expr>& indices, const tir::Bounds* bounds) {
  return OffsetOf(buffer, indices, bounds).Sum();
}

Access AnalyzeAccess(const tir::BufferNode& buffer,
                     const std::vector<Expr>& indices,
                     const tir::Bounds* bounds) {
  Access access;
  const Offset offset = OffsetOf(buffer, indices, bounds);
  access.lanes = offset.lanes;
  access.base = offset.scalar;
  if (access.lanes == 1) return access;
  Expr base, stride;
  if (MatchRamp(offset.Sum(), &base, &stride)) {
    access.base = tir::Simplify(base, bounds);
    access.stride = tir::Simplify(stride, bounds);
  } else {
    access.offsets = offset.vector;
  }
  return access;
}

bool InBounds(const tir::BufferNode& buffer, const std::vector<Expr>& indices,
              const tir::Bounds& bounds) {
  for (size_t d = 0; d < indices.size(); ++d) {
    const Expr& index = indices[d];
    if (index->dtype.lanes == 1) {
      if (!Within(index, buffer.shape[d], bounds)) return false;
      continue;
    }
    Expr base, stride;
    if (!MatchRamp(index, &base, &stride)) return false;
    const Expr last = base + stride * (index->dtype.lanes - 1);
    if (!Within(base, buffer.shape[d], bounds) ||
        !Within(last, buffer.shape[d], bounds)) {
      return false;
    }
  }
  return true;
}

bool MayFault(const Expr& e, const tir::Bounds& bounds) {
  FaultFinder finder(bounds);
  finder.Visit(e);
  return finder.found();
}

}  // namespace ingot::codegen
