#include "compiler/te/boxes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/te/conditions.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {
namespace {

using tir::As;
using tir::BinaryOp;

// A reader's loads of one buffer, and whether all of them are unconditional.
class LoadFinder : public tir::ExprVisitor {
 public:
  explicit LoadFinder(const tir::BufferNode* buffer) : buffer_(buffer) {}

  struct Found {
    std::vector<Expr> indices;
    bool conditional;
  };
  std::vector<Found> found;

 protected:
  void VisitLoad(const tir::Load& node) override {
    if (node.buffer.get() == buffer_) {
      found.push_back({node.indices, depth_ > 0});
    }
    tir::ExprVisitor::VisitLoad(node);
  }
  void VisitSelect(const tir::Select& node) override {
    Visit(node.condition);
    ++depth_;
    Visit(node.on_true);
    Visit(node.on_false);
    --depth_;
  }

 private:
  const tir::BufferNode* buffer_;
  int depth_ = 0;
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

// The side of an index, as closely as it is known either way.
std::optional<Side> SideOf(const Expr& index, const Box& ranges,
                           const FusedAxes& fused, const Bounds& bounds) {
  const std::optional<Side> side = SideOf(index, ranges, bounds);
  if (fused.values.empty()) return side;
  Box all = ranges;
  all.insert(fused.ranges.begin(), fused.ranges.end());
  const std::optional<Side> closer =
      SideOf(tir::Substitute(index, fused.values), all, bounds);
  if (!closer) return side;
  if (!side) return closer;
  const auto a = side->extent.AsConst(), b = closer->extent.AsConst();
  return b && (!a || *b < *a) ? closer : side;
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
    bool inexact = false;
    const Operation& op = reader->op();
    if (reader == state.stage) {
      inexact = state.MayExceed();
      fused = state.Fused();
      for (size_t i = 0; i < op.axis.size(); ++i) {
        ranges[op.axis[i].get()] = state.AxisRange(i);
      }
      for (size_t i = 0; i < op.reduce_axis.size(); ++i) {
        ranges[op.reduce_axis[i].get()] = state.ReduceRange(i);
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
        inexact = inexact || needed[i].inexact;
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
          side->inexact = side->inexact || inexact || load.conditional;
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
