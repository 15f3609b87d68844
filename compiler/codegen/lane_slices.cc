#include "compiler/codegen/lane_slices.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/tir/arith/compare.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::Expr;

class WidestElement : public tir::ExprVisitor {
 public:
  int bits = 0;

  void Visit(const Expr& e) override {
    if (!seen_.insert(e.get()).second) return;
    if (e->dtype.lanes > 1 && !e->dtype.is_bool()) {
      bits = std::max<int>(bits, e->dtype.bits);
    }
    tir::ExprVisitor::Visit(e);
  }

 protected:
  void VisitLoad(const tir::Load&) override {}
  // Nor do places that a condition compares.
  void VisitSelect(const tir::Select& node) override {
    if (tir::HasLoad(node.condition)) Visit(node.condition);
    Visit(node.on_true);
    Visit(node.on_false);
  }

 private:
  std::set<const tir::ExprNode*> seen_;
};

// The lanes [first, first + lanes) of an expression.
class LaneSlicer : public tir::ExprMutator {
 public:
  LaneSlicer(int first, int lanes) : first_(first), lanes_(lanes) {}

  Expr Mutate(const Expr& e) override {
    if (e->dtype.lanes == 1) return e;
    const auto found = done_.find(e.get());
    if (found != done_.end()) return found->second;
    Expr slice = tir::ExprMutator::Mutate(e);
    done_.emplace(e.get(), slice);
    return slice;
  }

 protected:
  Expr MutateUnary(const Expr&, const tir::Unary& node) override {
    return tir::MakeUnary(node.op, Mutate(node.a));
  }
  Expr MutateBinary(const Expr&, const tir::Binary& node) override {
    return tir::MakeBinary(node.op, Mutate(node.a), Mutate(node.b));
  }
  Expr MutateSelect(const Expr&, const tir::Select& node) override {
    return tir::MakeSelect(Mutate(node.condition), Mutate(node.on_true),
                           Mutate(node.on_false));
  }
  Expr MutateCast(const Expr&, const tir::Cast& node) override {
    return tir::MakeCast(node.dtype.with_lanes(lanes_), Mutate(node.value));
  }
  Expr MutateCall(const Expr&, const tir::Call& node) override {
    bool changed = false;
    return tir::MakeCall(node.intrinsic, MutateAll(node.args, &changed));
  }
  Expr MutateLoad(const Expr&, const tir::Load& node) override {
    bool changed = false;
    return tir::MakeLoad(node.buffer, MutateAll(node.indices, &changed));
  }
  Expr MutateRamp(const Expr&, const tir::Ramp& node) override {
    Expr base =
        node.base + node.stride * tir::MakeInt(first_, node.base->dtype);
    return lanes_ == 1 ? base : tir::MakeRamp(base, node.stride, lanes_);
  }
  Expr MutateBroadcast(const Expr&, const tir::Broadcast& node) override {
    return tir::MakeBroadcast(node.value, lanes_);
  }

 private:
  const int first_, lanes_;
  std::map<const tir::ExprNode*, Expr> done_;
};

class ReadFinder : public tir::ExprVisitor {
 public:
  explicit ReadFinder(const tir::BufferNode& buffer) : buffer_(buffer) {}
  bool found = false;

 protected:
  void VisitLoad(const tir::Load& node) override {
    found = found || node.buffer.get() == &buffer_;
    tir::ExprVisitor::VisitLoad(node);
  }

 private:
  const tir::BufferNode& buffer_;
};

// Whether the value reads the buffer elsewhere than where it is stored.
class OverlapFinder : public tir::ExprVisitor {
 public:
  explicit OverlapFinder(const tir::Store& store) : store_(store) {
    Visit(store.value);
  }
  bool found = false;

 protected:
  void VisitLoad(const tir::Load& load) override {
    if (load.buffer == store_.buffer) {
      for (size_t d = 0; d < load.indices.size(); ++d) {
        if (!tir::Equal(load.indices[d], store_.indices[d])) found = true;
      }
    }
    ExprVisitor::VisitLoad(load);
  }

 private:
  const tir::Store& store_;
};

class VectorVarFinder : public tir::ExprVisitor {
 public:
  explicit VectorVarFinder(const tir::Store& s) {
    Visit(s.value);
    for (const Expr& index : s.indices) Visit(index);
  }
  bool found = false;

 protected:
  void VisitVar(const tir::Var& node) override {
    found = found || node.dtype.lanes > 1;
  }
};

bool Reads(const Expr& e, const tir::BufferNode& buffer) {
  ReadFinder finder(buffer);
  finder.Visit(e);
  return finder.found;
}

}  // namespace

bool ReadsElsewhere(const tir::Store& s) { return OverlapFinder(s).found; }

int LanesThatFit(const Expr& e, int bits) {
  WidestElement widest;
  widest.Visit(e);
  return bits / std::max(8, widest.bits);
}

std::vector<tir::Stmt> SliceLanes(const tir::Store& s, int lanes) {
  if (ReadsElsewhere(s) || VectorVarFinder(s).found) return {};
  const int all = s.value->dtype.lanes;
  const bool may_repeat = !Reads(s.value, *s.buffer);
  std::vector<tir::Stmt> slices;
  for (int first = 0; first < all;) {
    int count = lanes;
    while (count > all - first) count /= 2;
    if (may_repeat && count < all - first &&
        2 * count <= std::min(lanes, all)) {
      // One more that overlaps, instead of several short ones.
      count *= 2;
      first = all - count;
    }
    LaneSlicer slicer(first, count);
    std::vector<Expr> indices;
    for (const Expr& index : s.indices) indices.push_back(slicer.Mutate(index));
    Expr value = slicer.Mutate(s.value);
    slices.push_back(
        tir::MakeStore(s.buffer, std::move(indices), std::move(value)));
    first += count;
  }
  return slices;
}

}  // namespace ingot::codegen
