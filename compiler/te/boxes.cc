#include "compiler/te/boxes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/te/conditions.h"
#include "compiler/tir/arith/compare.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {
namespace {

using tir::As;
using tir::BinaryOp;

// A reader's loads of one buffer, and which of their indices are taken only on
// some condition: an index that whatever a Select chooses has in common is not.
class LoadFinder : public tir::ExprVisitor {
 public:
  explicit LoadFinder(const tir::BufferNode* buffer) : buffer_(buffer) {}

  struct Found {
    std::vector<Expr> indices;
    std::vector<bool> conditional;  // parallel to these
  };
  std::vector<Found> found;

 protected:
  void VisitLoad(const tir::Load& node) override {
    if (node.buffer.get() == buffer_) {
      found.push_back(
          {node.indices, std::vector<bool>(node.indices.size(), false)});
    }
    tir::ExprVisitor::VisitLoad(node);
  }
  void VisitSelect(const tir::Select& node) override {
    Visit(node.condition);
    const size_t first = found.size();
    Visit(node.on_true);
    const size_t second = found.size();
    Visit(node.on_false);
    const std::vector<Found> chosen(found.begin() + first, found.end());
    const auto begin = chosen.begin(), middle = begin + (second - first);
    for (size_t i = first; i < found.size(); ++i) {
      const auto from = i < second ? middle : begin;
      const auto to = i < second ? chosen.end() : middle;
      for (size_t d = 0; d < found[i].indices.size(); ++d) {
        const Expr& index = found[i].indices[d];
        found[i].conditional[d] =
            found[i].conditional[d] ||
            std::none_of(from, to, [&](const Found& other) {
              return !other.conditional[d] &&
                     tir::Equal(other.indices[d], index);
            });
      }
    }
  }

 private:
  const tir::BufferNode* buffer_;
};

// The smallest box around both; `whole` where that is not known.
Side Join(const Side& a, const Side& b, const Side& whole) {
  Affine min_gap = b.min - a.min;
  Affine end_gap = (b.min + b.extent) - (a.min + a.extent);
  auto c = min_gap.AsConst(), d = end_gap.AsConst();
  if (!c || !d) return whole;
  const Affine& min = *c < 0 ? b.min : a.min;
  Affine end = *d > 0 ? b.min + b.extent : a.min + a.extent;
  return {min, end - min, a.inexact || b.inexact};
}

// Whether the index depends on a variable that has values which it should not:
// only then may it lie outside of what it is an index of.
bool DependsOnInexact(const Expr& index, const Box& box) {
  const std::vector<const tir::Var*> vars = tir::VarsOf(index);
  return std::any_of(vars.begin(), vars.end(), [&box](const tir::Var* var) {
    const auto it = box.find(var);
    return it != box.end() && it->second.inexact;
  });
}

// The side of an index, as closely as it is known either way.
std::optional<Side> SideOf(const Expr& index, const Box& axes,
                           const FusedAxes& fused, const Bounds& bounds) {
  std::optional<Side> side = SideOf(index, axes, bounds);
  if (side) side->inexact = side->inexact || DependsOnInexact(index, axes);
  if (fused.values.empty()) return side;
  Box all = axes;
  all.insert(fused.ranges.begin(), fused.ranges.end());
  Bounds known = bounds;
  for (const auto& [loop, range] : fused.ranges) {
    known.Set(loop, range.min, range.min + range.extent - Affine(1));
  }
  const Expr of_loops =
      known.ToAffine(tir::Substitute(index, fused.values)).ToExpr();
  std::optional<Side> closer = SideOf(of_loops, all, known);
  if (!closer) return side;
  closer->inexact = closer->inexact || DependsOnInexact(of_loops, all);
  if (!side) return closer;
  const auto a = side->extent.AsConst(), b = closer->extent.AsConst();
  const bool is_smaller = b && (!a || *b < *a);
  const bool is_exact = a == b && side->inexact && !closer->inexact;
  return is_smaller || is_exact ? closer : side;
}

bool IsAttachedWithin(const Stage* stage, const Stage* consumer) {
  for (const Stage* s = stage; s != nullptr; s = s->consumer()) {
    if (s == consumer) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::vector<Side>> RequiredBox(const Schedule& schedule,
                                              const Stage* producer,
                                              const LoopState& state) {
  std::vector<Side> whole;
  for (const Expr& dim : producer->output().shape()) {
    whole.push_back({Affine(0), state.bounds.ToAffine(dim)});
  }
  std::optional<std::vector<Side>> box;
  for (const Stage* reader : schedule.Readers(producer)) {
    Box ranges;
    FusedAxes fused;
    const Operation& op = reader->op();
    if (reader == state.stage) {
      fused = state.Fused();
      for (size_t i = 0; i < op.axis.size(); ++i) {
        Side range = state.AxisRange(i);
        range.inexact = range.inexact || state.MayExceed(static_cast<int>(i));
        ranges[op.axis[i].get()] = std::move(range);
      }
      for (size_t i = 0; i < op.reduce_axis.size(); ++i) {
        Side range = state.ReduceRange(i);
        range.inexact =
            range.inexact || state.ReduceMayExceed(static_cast<int>(i));
        ranges[op.reduce_axis[i].get()] = std::move(range);
      }
    } else {
      if (!IsAttachedWithin(reader, state.stage)) {
        return absl::FailedPreconditionError(absl::StrCat(
            producer->op().name, " is computed inside ", state.stage->op().name,
            " but also read by ", op.name));
      }
      INGOT_ASSIGN_OR_RETURN(auto needed, RequiredBox(schedule, reader, state));
      for (size_t i = 0; i < op.axis.size(); ++i) {
        ranges[op.axis[i].get()] = needed[i];
      }
      for (size_t i = 0; i < op.reduce_axis.size(); ++i) {
        ranges[op.reduce_axis[i].get()] = {
            Affine(0), state.bounds.ToAffine(op.reduce_extent[i])};
      }
    }
    LoadFinder finder(producer->output().buffer.get());
    finder.Visit(op.value);
    for (const auto& load : finder.found) {
      std::vector<Side> read;
      for (size_t i = 0; i < load.indices.size(); ++i) {
        auto side = SideOf(load.indices[i], ranges, fused, state.bounds);
        if (!side) side = whole[i];
        if (side->min == whole[i].min && side->extent == whole[i].extent) {
          side = whole[i];  // nothing lies outside
        } else {
          side->inexact = side->inexact || load.conditional[i];
        }
        // A box larger than the tensor is the tensor.
        auto wide = side->extent.AsConst(), all = whole[i].extent.AsConst();
        if (wide && all && *wide >= *all) side = whole[i];
        read.push_back(*std::move(side));
      }
      if (!box) {
        box = std::move(read);
      } else {
        for (size_t i = 0; i < read.size(); ++i) {
          (*box)[i] = Join((*box)[i], read[i], whole[i]);
        }
      }
    }
  }
  // Not read here at all: nothing to compute, but a box all the same.
  if (!box) {
    return absl::FailedPreconditionError(absl::StrCat(
        producer->op().name, " is not read inside ", state.stage->op().name));
  }
  return *std::move(box);
}

std::vector<Part> PartsOf(const LoopState& state, int axis,
                          const std::vector<int64_t>& places) {
  const Side side = state.box[axis];
  std::vector<Affine> cuts(places.begin(), places.end());
  if (cuts.empty()) {
    cuts = ConditionCuts(state.stage->op(), axis, state.bounds);
  }
  // Insertion sort by what can be proven; a wrong order only costs speed.
  for (size_t i = 1; i < cuts.size(); ++i) {
    for (size_t j = i; j > 0 && state.bounds.ProveLess(cuts[j], cuts[j - 1]);
         --j) {
      std::swap(cuts[j], cuts[j - 1]);
    }
  }
  const Affine end = side.min + side.extent;
  std::vector<Part> parts;
  Affine from = side.min;
  std::optional<Affine> before;
  cuts.push_back(end);
  for (const Affine& cut : cuts) {
    // Within [from, end], wherever the cut lies.
    Affine to = state.bounds.ToAffine(
        tir::Max(from.ToExpr(), tir::Min(cut.ToExpr(), end.ToExpr())));
    Affine extent = to - from;
    auto constant = extent.AsConst();
    if (!constant || *constant > 0) {
      parts.push_back({{from, extent, side.inexact}, before, cut});
    }
    from = to;
    before = cut;
  }
  return parts;
}

}  // namespace ingot::te
