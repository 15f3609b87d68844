#include "compiler/te/prefetches.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "compiler/te/body_rewriter.h"
#include "compiler/tir/arith/affine.h"
#include "compiler/tir/typing.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {
namespace {

// Finds the first access to a buffer.
class FirstLoad : public tir::ExprVisitor {
 public:
  explicit FirstLoad(const tir::BufferNode* buffer) : buffer_(buffer) {}
  std::optional<Expr> found;

  void Visit(const Expr& e) override {
    if (found.has_value()) return;
    const auto* load = tir::As<tir::Load>(e);
    if (load != nullptr && load->buffer.get() == buffer_) {
      found = e;
      return;
    }
    tir::ExprVisitor::Visit(e);
  }

 private:
  const tir::BufferNode* buffer_;
};

// Returns the offset of an access in its buffer, in elements; nothing where the
// buffer's shape is not constant.
std::optional<Affine> OffsetOf(const tir::Load& load, const Bounds& bounds) {
  Expr offset = tir::MakeInt(0);
  for (size_t i = 0; i < load.indices.size(); ++i) {
    int64_t extent;
    if (!tir::AsConstInt(load.buffer->shape[i], &extent)) return std::nullopt;
    offset = offset * extent + load.indices[i];
  }
  return bounds.ToAffine(offset);
}

// Returns for how many results the loops yet to be made read each element of an
// input: all of them, where that is not known.
int64_t UsesOf(const LoopState& state, const Expr& load) {
  const std::vector<const tir::Var*> vars = tir::VarsOf(load);
  const std::vector<tir::VarPtr>& axes = state.stage->op().axis;
  int64_t uses = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (std::find(vars.begin(), vars.end(), axes[i].get()) != vars.end()) {
      continue;
    }
    const std::optional<int64_t> extent =
        state.AxisRange(static_cast<int>(i)).extent.AsConst();
    if (!extent.has_value()) return std::numeric_limits<int64_t>::max();
    uses *= *extent;
  }
  return uses;
}

}  // namespace

std::vector<tir::Stmt> PrefetchesOf(const LoopState& state, Loop loop) {
  std::vector<tir::Stmt> stmts;
  for (const auto& request : state.stage->prefetches_) {
    if (!(request.loop == loop)) continue;
    FirstLoad finder(request.input);
    finder.Visit(state.stage->op().value);
    const tir::Var* var = SingleVar(state.Range(loop.id).min);
    if (!finder.found.has_value() || var == nullptr) continue;
    if (UsesOf(state, *finder.found) < request.least_uses) continue;
    const Expr first = BodyRewriter(state).Mutate(*finder.found);
    const auto& load = *tir::As<tir::Load>(first);
    const std::optional<Affine> offset = OffsetOf(load, state.bounds);
    if (!offset.has_value()) continue;
    const int64_t bytes = offset->CoefficientOf(var) *
                          static_cast<int64_t>(load.buffer->dtype.bytes());
    if (tir::PrefetchTypeError(load.buffer, load.indices, request.bytes_ahead,
                               bytes) == nullptr) {
      stmts.push_back(tir::MakePrefetch(load.buffer, load.indices,
                                        request.bytes_ahead, bytes));
    }
  }
  return stmts;
}

}  // namespace ingot::te
