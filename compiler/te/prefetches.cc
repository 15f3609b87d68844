#include "compiler/te/prefetches.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/alignment.h"
#include "compiler/te/body_rewriter.h"
#include "compiler/tir/arith/affine.h"
#include "compiler/tir/arith/simplify.h"
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

// Returns the places, in elements from the first one on, from each of which the
// loops yet to be made read at least `bytes`: those of two blocks of results.
// Where there are more, the first place alone is returned: requests took longer
// than they gained (Winograd's with four blocks on Zen 5).
std::vector<int64_t> PlacesOf(const LoopState& state, const tir::Load& load,
                              int64_t bytes) {
  constexpr int64_t kMost = 2;
  const std::optional<Affine> offset = OffsetOf(load, state.bounds);
  if (!offset.has_value()) return {0};
  const std::vector<tir::VarPtr>& axes = state.stage->op().axis;
  std::vector<int64_t> places = {0};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t stride = offset->CoefficientOf(axes[i].get());
    const std::optional<int64_t> extent =
        state.AxisRange(static_cast<int>(i)).extent.AsConst();
    const int64_t apart =
        stride * static_cast<int64_t>(load.buffer->dtype.bytes());
    if (apart < bytes || extent == 1) continue;
    if (extent != kMost || places.size() > 1) return {0};
    places.push_back(stride);
  }
  return places;
}

// An iteration of a loop around a stage, and how many of them take turns.
struct Turns {
  Expr turn;
  int64_t count;
};

// Returns the innermost loop around the stage that chooses results but no
// elements of an input; nothing where there is none of at least two iterations.
std::optional<Turns> TurnsOf(const LoopState& state, const Expr& load) {
  const std::vector<const tir::Var*> vars = tir::VarsOf(load);
  const std::vector<tir::VarPtr>& axes = state.stage->op().axis;
  const tir::Term* innermost = nullptr;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (std::find(vars.begin(), vars.end(), axes[i].get()) != vars.end()) {
      continue;
    }
    for (const tir::Term& term : state.box[i].min.terms) {
      if (innermost == nullptr || term.coefficient < innermost->coefficient) {
        innermost = &term;
      }
    }
  }
  if (innermost == nullptr || innermost->factors.size() != 1) {
    return std::nullopt;
  }
  const Expr& var = innermost->factors[0];
  if (tir::As<tir::Var>(var) == nullptr) return std::nullopt;
  const auto last = tir::ConstUpperBound(var, &state.bounds);
  // Where their number is not known, the first ones do.
  constexpr int64_t kFirst = 2;
  if (!last.has_value()) {
    return Turns{tir::Min(var, tir::MakeInt(kFirst - 1)), kFirst};
  }
  if (*last < 1) return std::nullopt;
  return Turns{var, *last + 1};
}

int64_t WholeLines(int64_t bytes) {
  constexpr int64_t kLine = kCacheLineBytes;
  return (bytes + kLine - 1) / kLine * kLine;
}

// The part of an input that the iterations of a loop read.
struct Reads {
  const tir::Load& first;
  Expr loop;      // its variable
  int64_t bytes;  // of an iteration
  std::optional<int64_t> iterations;
};

// Makes the request of an iteration for its part of what follows all that the
// loop reads; null where that is too far or not known.
tir::Stmt RequestInTurns(const LoopState& state, const Expr& input,
                         const Reads& reads) {
  const std::optional<Turns> turns = TurnsOf(state, input);
  if (!turns.has_value() || !reads.iterations.has_value()) return nullptr;
  const tir::Buffer& buffer = reads.first.buffer;
  const int64_t whole = *reads.iterations * reads.bytes;
  const int64_t turn = WholeLines((whole + turns->count - 1) / turns->count);
  const int64_t step =
      WholeLines((turn + *reads.iterations - 1) / *reads.iterations);
  const int64_t size = static_cast<int64_t>(buffer->dtype.bytes());
  std::vector<Expr> indices;
  for (const Expr& index : reads.first.indices) {
    indices.push_back(tir::Substitute(
        index, {{tir::As<tir::Var>(reads.loop), tir::MakeInt(0)}}));
  }
  indices.back() =
      indices.back() + turns->turn * (turn / size) + reads.loop * (step / size);
  if (tir::PrefetchTypeError(buffer, indices, whole, step) != nullptr) {
    return nullptr;
  }
  return tir::MakePrefetch(buffer, std::move(indices), whole, step);
}

}  // namespace

std::vector<tir::Stmt> PrefetchesOf(const LoopState& state, Loop loop) {
  std::vector<tir::Stmt> stmts;
  for (const auto& request : state.stage->prefetches_) {
    if (!(request.loop == loop)) continue;
    FirstLoad finder(request.input);
    finder.Visit(state.stage->op().value);
    const Affine place = state.Range(loop.id).min;
    const tir::Var* var = SingleVar(place);
    if (!finder.found.has_value() || var == nullptr) continue;
    if (UsesOf(state, *finder.found) < request.least_uses) continue;
    const Expr first = BodyRewriter(state).Mutate(*finder.found);
    const auto& load = *tir::As<tir::Load>(first);
    const std::optional<Affine> offset = OffsetOf(load, state.bounds);
    if (!offset.has_value()) continue;
    const int64_t bytes = offset->CoefficientOf(var) *
                          static_cast<int64_t>(load.buffer->dtype.bytes());
    if (tir::PrefetchTypeError(load.buffer, load.indices, request.bytes_ahead,
                               bytes) != nullptr) {
      continue;
    }
    tir::Stmt stmt;
    if (request.in_turns) {
      const Reads reads = {load, place.terms[0].factors[0], bytes,
                           state.Extent(loop.id).AsConst()};
      stmt = RequestInTurns(state, *finder.found, reads);
    }
    if (stmt != nullptr) {
      stmts.push_back(std::move(stmt));
      continue;
    }
    for (const int64_t place :
         PlacesOf(state, *tir::As<tir::Load>(*finder.found), bytes)) {
      std::vector<Expr> indices = load.indices;
      if (place != 0) indices.back() = indices.back() + place;
      stmts.push_back(tir::MakePrefetch(load.buffer, std::move(indices),
                                        request.bytes_ahead, bytes));
    }
  }
  return stmts;
}

}  // namespace ingot::te
