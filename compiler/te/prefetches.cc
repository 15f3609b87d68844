#include "compiler/te/prefetches.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
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
// elements of an input: of the last such axis; nothing where there is none of
// at least two iterations.
std::optional<Turns> TurnsOf(const LoopState& state, const Expr& load) {
  const std::vector<const tir::Var*> vars = tir::VarsOf(load);
  const std::vector<tir::VarPtr>& axes = state.stage->op().axis;
  std::optional<tir::Term> innermost;
  for (size_t i = axes.size(); i-- > 0 && !innermost.has_value();) {
    if (std::find(vars.begin(), vars.end(), axes[i].get()) != vars.end()) {
      continue;
    }
    const Affine first = state.AxisRange(static_cast<int>(i)).min;
    for (const tir::Term& term : first.terms) {
      if (!innermost || term.coefficient < innermost->coefficient) {
        innermost = term;
      }
    }
  }
  if (!innermost.has_value() || innermost->factors.size() != 1) {
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

// All that a stage reads of an input for one place of the loops around it, one
// element after the other from each of one or two places on.
struct Reads {
  int64_t elements;
  int64_t terms;    // of the reduction
  int64_t of_term;  // the elements from one term to the next
  Expr term;        // the number of the one that is added
  std::vector<int64_t> places = {0};
};

// Returns what the stage reads for one place of the loops around it; nothing
// where that is not all of a piece.
std::optional<Reads> ReadsOf(const LoopState& state, const tir::Load& load) {
  const std::optional<Affine> offset = OffsetOf(load, state.bounds);
  if (!offset.has_value()) return std::nullopt;
  const Operation& op = state.stage->op();
  struct Step {
    int64_t elements, extent;
    Expr var;
  };
  std::vector<Step> steps;
  for (size_t i = 0; i < op.reduce_axis.size(); ++i) {
    int64_t extent;
    if (!tir::AsConstInt(op.reduce_extent[i], &extent) || extent < 1) {
      return std::nullopt;
    }
    if (extent == 1) continue;
    const tir::VarPtr& var = op.reduce_axis[i];
    steps.push_back({offset->CoefficientOf(var.get()), extent, var});
  }
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return a.elements < b.elements;
  });
  if (steps.empty() || steps[0].elements < 1) return std::nullopt;
  Reads reads = {steps[0].elements, 1, steps[0].elements, tir::MakeInt(0)};
  for (const Step& step : steps) {
    if (step.elements != reads.elements) return std::nullopt;
    reads.term = reads.term + step.var * reads.terms;
    reads.terms *= step.extent;
    reads.elements *= step.extent;
  }
  // Blocks of results beside each other.
  for (size_t i = op.axis.size(); i-- > 0;) {
    const int64_t stride = offset->CoefficientOf(op.axis[i].get());
    const std::optional<int64_t> extent =
        state.AxisRange(static_cast<int>(i)).extent.AsConst();
    if (stride < reads.of_term || extent == 1) continue;
    if (stride == reads.elements && extent.has_value()) {
      reads.elements *= *extent;
    } else if (extent == 2 && reads.places.size() == 1) {
      reads.places.push_back(stride);
    } else {
      return std::nullopt;
    }
  }
  return reads;
}

// Makes the requests of an iteration that reads so many bytes, of each block of
// results, for its part of what follows all that the stage reads; none where
// that is too far or not known.
std::vector<tir::Stmt> RequestsInTurns(const LoopState& state,
                                       const Expr& input, int64_t bytes) {
  const auto& load = *tir::As<tir::Load>(input);
  const std::optional<Turns> turns = TurnsOf(state, input);
  const std::optional<Reads> reads = ReadsOf(state, load);
  if (!turns.has_value() || !reads.has_value()) return {};
  const tir::Buffer& buffer = load.buffer;
  const int64_t size = static_cast<int64_t>(buffer->dtype.bytes());
  const int64_t whole = reads->elements * size;
  const int64_t turn = WholeLines(tir::CeilDivInt(whole, turns->count)) / size;
  // It may be less than a line, which several terms then ask for. Parts of
  // whole lines would ask too fast, for most lines twice.
  const int64_t of_term = tir::CeilDivInt(turn, reads->terms);
  std::map<const tir::Var*, Expr> first;
  for (const tir::VarPtr& var : state.stage->op().reduce_axis) {
    first[var.get()] = tir::MakeInt(0);
  }
  const Expr start = BodyRewriter(state).Mutate(tir::Substitute(input, first));
  std::vector<Expr> indices = tir::As<tir::Load>(start)->indices;
  indices.back() = indices.back() + turns->turn * turn +
                   BodyRewriter(state).Mutate(reads->term) * of_term;
  const int64_t asked = bytes / reads->of_term * of_term;
  if (tir::PrefetchTypeError(buffer, indices, whole, asked) != nullptr) {
    return {};
  }
  const Expr last = indices.back();
  std::vector<tir::Stmt> requests;
  for (const int64_t place : reads->places) {
    indices.back() = last + place;
    requests.push_back(tir::MakePrefetch(buffer, indices, whole, asked));
  }
  return requests;
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
    // A copy that was made for the loops around this one is near.
    if (load.buffer.get() != request.input) continue;
    const std::optional<Affine> offset = OffsetOf(load, state.bounds);
    if (!offset.has_value()) continue;
    const int64_t bytes = offset->CoefficientOf(var) *
                          static_cast<int64_t>(load.buffer->dtype.bytes());
    if (tir::PrefetchTypeError(load.buffer, load.indices, request.bytes_ahead,
                               bytes) != nullptr) {
      continue;
    }
    if (request.in_turns) {
      const auto requests = RequestsInTurns(state, *finder.found, bytes);
      stmts.insert(stmts.end(), requests.begin(), requests.end());
      if (!requests.empty()) continue;
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
