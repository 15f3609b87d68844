// Loops of a product by blocks: for each step along the sum a block's threads
// copy the operands' parts into shared memory, and each adds to the part of a
// tile that is its own, in registers. Tiles that stick out compute zeros there,
// so that no sum asks where it is.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/schedules/gpu/product.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::gpu {
namespace {

// An operand as the threads of a block share it: [axes that it depends on, two
// more], the sum's and its own side of the result's. Where boxes are copied,
// the last comes in chunks, their rows: [axes, chunks of the last, the other,
// neighbours].
struct SharedOperand {
  // Axes of the result, or of its taps, besides its own and the sum's.
  std::vector<tir::VarPtr> axes;
  std::vector<Expr> extents;  // of these
  size_t axis;                // its own
  // Whether the sum's is the last, as in memory.
  bool terms_last = false;
  int64_t chunk = 0;  // neighbours in one; 0: there are none
  // So many neighbours along the last are copied at once; 1: each for itself.
  int64_t run = 1;

  // The extents of so many terms and elements.
  std::vector<Expr> Shape(int64_t terms, int64_t elements) const {
    std::vector<Expr> shape = extents;
    const int64_t last = terms_last ? terms : elements;
    if (chunk > 0) shape.push_back(tir::MakeInt(last / chunk));
    shape.push_back(tir::MakeInt(terms_last ? elements : terms));
    shape.push_back(tir::MakeInt(chunk > 0 ? chunk : last));
    return shape;
  }

  // The indices of an element.
  Indices At(const Expr& term, const Expr& element) const {
    Indices at(axes.begin(), axes.end());
    const Expr& last = terms_last ? term : element;
    if (chunk > 0) at.push_back(last / tir::MakeInt(chunk));
    at.push_back(terms_last ? element : term);
    at.push_back(chunk > 0 ? last % tir::MakeInt(chunk) : last);
    return at;
  }

  // The term and the element that these are the indices of.
  std::pair<Expr, Expr> TermAndElement(const Indices& i) const {
    Expr last = i.back(), other = i[i.size() - 2];
    if (chunk > 0) last = i[axes.size()] * tir::MakeInt(chunk) + last;
    return terms_last ? std::make_pair(last, other)
                      : std::make_pair(other, last);
  }
};

// Makes the stages of a product and their loops.
class Scheduler {
 public:
  Scheduler(Schedule* schedule, Stage* stage, const BlockTile& tile,
            int64_t chunks)
      : schedule_(schedule),
        product_(*FindProduct(*stage, tile.multipliers)),
        tile_(tile),
        run_(kBytesAtOnce / OperandType(*stage).bytes()),
        chunk_(tile.multipliers == Multipliers::kWarpGroups ? kBoxRow : 0) {
    stage_ = stage;
    if (product_.joins_terms) {
      schedule->JoinReduceAxes(stage);
      product_ = *FindProduct(*stage, tile.multipliers);
    }
    if (chunks > 1) {
      stage_ = schedule->ReduceInChunks(stage, product_.terms, chunks);
      for (ProductSide* const side : {&product_.rows, &product_.columns}) {
        ++side->first;
        ++side->last;
      }
      Stage* const joined = JoinInto(schedule, stage);
      joined->Parallel(FuseAxes(joined));
    }
    // Vectors of terms are read in different banks by threads whose elements
    // are neighbours.
    const Operation& op = stage_->op();
    if (!tile_.ByUnits()) {
      if (HasTermsLast(op, row(), column())) tile_.rows.run = 1;
      if (HasTermsLast(op, column(), row())) tile_.columns.run = 1;
    }
  }

  void Run() {
    of_result_ = product_;
    Stage* sums = JoinSide(stage_, &product_.columns);
    sums = JoinSide(sums, &product_.rows);
    const std::vector<Expr>& shape = sums->output().shape();
    std::vector<Expr> rounded = shape, terms = sums->op().reduce_extent;
    rows_ = GuessExtent(shape[row()]);
    columns_ = GuessExtent(shape[column()]);
    terms_ = GuessExtent(terms[product_.terms]);
    rounded[row()] = tir::MakeInt(Covered(rows_, tile_.rows.extent()));
    rounded[column()] = tir::MakeInt(Covered(columns_, tile_.columns.extent()));
    covered_terms_ = Covered(terms_, tile_.step);
    terms[product_.terms] = tir::MakeInt(covered_terms_);
    Stage* const acc = schedule_->CacheWrite(sums, rounded, terms);
    if (sums != stage_) sums->ComputeInline();
    Stage* const out = JoinInto(schedule_, stage_);
    const Loop block = ScheduleResult(out);
    const Loop step = ScheduleSums(acc);
    acc->ComputeAt(out, block);
    ShareOperand(acc, step, row(), column());
    ShareOperand(acc, step, column(), row());
  }

 private:
  // The axes of the sums.
  size_t row() const { return product_.rows.first; }
  size_t column() const { return product_.columns.first; }

  // Returns a stage that has one axis of that side of the product, for `stage`
  // to read.
  Stage* JoinSide(Stage* stage, ProductSide* side) {
    if (!side->IsJoined()) return stage;
    Stage* const joined = schedule_->JoinAxes(
        stage, static_cast<int>(side->first), static_cast<int>(side->last));
    if (stage != stage_) stage->ComputeInline();
    const size_t fewer = side->last - side->first;
    side->last = side->first;
    if (side == &product_.rows) {
      product_.columns.first -= fewer;
      product_.columns.last -= fewer;
    }
    return joined;
  }

  // The units of warps have whole tiles.
  int64_t Covered(int64_t extent, int64_t tile) const {
    return tile_.ByUnits() ? CeilDiv(extent, tile) * tile
                           : RoundedUp(extent, tile);
  }

  // A tile of the result for each block. Returns the loop over blocks.
  Loop ScheduleResult(Stage* out) {
    std::vector<Loop> blocks = out->axes();
    // The columns come last, so that the rows stay where they are.
    for (const ProductSide& side : {of_result_.columns, of_result_.rows}) {
      if (!side.IsJoined()) continue;
      const auto first = blocks.begin() + static_cast<int64_t>(side.first);
      const auto end = blocks.begin() + static_cast<int64_t>(side.last) + 1;
      *first = out->Fuse(std::vector<Loop>(first, end));
      blocks.erase(first + 1, end);
    }
    const auto cut = [&](size_t axis, TileSide side) {
      const auto [tile, inside] =
          out->Split(blocks[axis], side.extent(), Tail::kGuard);
      blocks[axis] = tile;
      side.loop = inside;
      return side;
    };
    const TileSide rows = cut(row(), tile_.rows);
    TileSide columns = cut(column(), tile_.columns);
    // Runs are stored as such where the last tile has whole ones.
    columns.is_even = !of_result_.columns.IsJoined() &&
                      column() + 1 == blocks.size() &&
                      (columns.run == kRun || tile_.ByUnits()) &&
                      columns_ % columns.extent() == 0;
    CutTile(out, {rows, columns}, blocks, {});
    const Loop block = out->Fuse(blocks);
    out->Block(block);
    return block;
  }

  // One loop over all steps, each of which has one of each tap, and those
  // inside of a step.
  std::pair<Loop, std::vector<Loop>> Steps(Stage* acc) const {
    const auto [outer, term] = acc->Split(
        acc->reduce_axis(static_cast<int>(product_.terms)), tile_.step);
    std::vector<Loop> steps, inner = {term};
    for (size_t i = 0; i < acc->reduce_axes().size(); ++i) {
      const Loop loop = acc->reduce_axis(static_cast<int>(i));
      if (i == product_.terms) {
        steps.push_back(outer);
      } else {
        (IsTap(acc->op(), i) ? &steps : &inner)->push_back(loop);
      }
    }
    if (steps.size() == 1) return {outer, inner};
    std::vector<Loop> order = acc->axes();
    order.insert(order.end(), steps.begin(), steps.end());
    order.insert(order.end(), inner.begin(), inner.end());
    acc->Reorder(order);
    return {acc->Fuse(steps), inner};
  }

  bool IsTap(const Operation& op, size_t reduce_axis) const {
    return reduce_axis != product_.terms &&
           GuessExtent(op.reduce_extent[reduce_axis]) != 1;
  }

  // The sums, in registers. Returns the loop over steps.
  Loop ScheduleSums(Stage* acc) {
    auto [step, inner] = Steps(acc);
    std::vector<Loop> outer = {step};
    for (size_t i = 0; i < acc->axes().size(); ++i) {
      if (i != row() && i != column()) {
        outer.push_back(acc->axis(static_cast<int>(i)));
      }
    }
    TileSide rows = tile_.rows, columns = tile_.columns;
    rows.loop = acc->axis(static_cast<int>(row()));
    columns.loop = acc->axis(static_cast<int>(column()));
    CutTile(acc, {rows, columns}, outer, inner);
    if (tile_.ByUnits()) acc->Tensorize(inner[0]);
    KeepTile(acc, {{row(), rows}, {column(), columns}});
    return step;
  }

  // Says how an operand is shared.
  SharedOperand FormOf(const Stage& acc, const tir::Load& load,
                       size_t axis) const {
    const Operation& op = acc.op();
    SharedOperand form;
    form.axis = axis;
    form.chunk = chunk_;
    const auto add = [&](const tir::VarPtr& var, const Expr& extent) {
      if (!DependsOn(load, var.get())) return;
      form.axes.push_back(var);
      form.extents.push_back(extent);
    };
    for (size_t i = 0; i < op.axis.size(); ++i) {
      if (i != axis) add(op.axis[i], acc.output().shape()[i]);
    }
    for (size_t i = 0; i < op.reduce_axis.size(); ++i) {
      if (IsTap(op, i)) add(op.reduce_axis[i], op.reduce_extent[i]);
    }
    const tir::VarPtr& term = op.reduce_axis[product_.terms];
    form.terms_last = HasTermsLast(op, axis, axis == row() ? column() : row());
    const int64_t extent = form.terms_last ? terms_ : ExtentOf(axis);
    // Their vectors are those of four threads' numbers.
    const bool may_run = chunk_ == 0 && (tile_.ByUnits() || run_ == kRun);
    if (may_run && extent % run_ == 0 &&
        InAlignedRuns(load, form.terms_last ? term : op.axis[axis], run_)) {
      form.run = run_;
    }
    return form;
  }

  // Whether an operand is shared with its terms one after the other: units read
  // them so, or else the tile says that threads do.
  bool HasTermsLast(const Operation& op, size_t axis, size_t other) const {
    if (!tile_.ByUnits()) {
      return tile_.terms_last &&
             TermsComeInRuns(op, product_.terms, axis, other);
    }
    const tir::VarPtr& term = op.reduce_axis[product_.terms];
    return AccessStride(*OperandOf(op, axis, other), term.get()) == 1;
  }

  // Lets the threads of a block copy what one step of `acc`, an iteration of
  // `step`, reads of the operand that depends on `axis`. Beyond its end there
  // are zeros.
  void ShareOperand(Stage* acc, Loop step, size_t axis, size_t other) {
    const Operation op = acc->op();
    const tir::Load load = *OperandOf(op, axis, other);
    const tir::VarPtr term = op.reduce_axis[product_.terms];
    const SharedOperand form = FormOf(*acc, load, axis);
    const Indices at = form.At(term, op.axis[axis]);
    const std::vector<Expr> shape =
        form.Shape(covered_terms_, GuessExtent(acc->output().shape()[axis]));
    const auto value = [&](const Indices& i) {
      std::map<const tir::Var*, Expr> map;
      for (const tir::VarPtr& one : op.reduce_axis) {
        map[one.get()] = tir::MakeInt(0);
      }
      for (size_t a = 0; a < form.axes.size(); ++a) {
        map[form.axes[a].get()] = i[a];
      }
      std::tie(map[term.get()], map[op.axis[axis].get()]) =
          form.TermAndElement(i);
      Indices from;
      for (const Expr& e : load.indices)
        from.push_back(tir::Substitute(e, map));
      return Inside(form, i, tir::MakeLoad(load.buffer, std::move(from)));
    };
    Stage* const tile = schedule_->CacheRead(
        acc, load, absl::StrCat(load.buffer->name, ".tile"), shape, value, at);
    InlinePadding(*schedule_, *tile);
    CopyTile(tile, form, AccessStride(load, term.get()) == 1);
    tile->ComputeAt(acc, step);
  }

  // Makes the loops of the copies: neighbours in memory are read by neighbours
  // among the threads, or one of them lets the machine copy boxes.
  void CopyTile(Stage* tile, const SharedOperand& form, bool along_sum) {
    std::vector<Loop> order = tile->axes();
    const bool turned = along_sum && !form.terms_last;
    if (form.chunk > 0) {
      constexpr int64_t kAll = 1 << 20;  // no shared memory has more
      Loop& rows = order[order.size() - 2];
      const auto [one, all] = tile->Split(rows, kAll, Tail::kGuard);
      rows = all;
      std::rotate(order.begin(), order.end() - 2, order.end() - 1);
      order.insert(order.begin(), one);
      tile->Reorder(order);
      tile->Thread(one);
      tile->Tensorize(all);
      tile->StoreIn(Storage::kShared);
      return;
    }
    if (turned) {
      const Loop k = order[order.size() - 2], element = order.back();
      order.resize(order.size() - 2);
      const auto [far, near] = tile->Split(k, kTermsTogether);
      order.insert(order.end(), {far, element, near});
    } else if (form.run > 1) {
      const auto [run, element] = tile->Split(order.back(), form.run);
      order.back() = run;
      tile->Vectorize(element);
    }
    ShareAmongThreads(tile, order, tile_.threads());
    tile->StoreIn(Storage::kShared);
    tile->PadBox({PaddingOf(form, turned)});
  }

  // Elements that keep columns in different banks: of a warp's threads eight
  // read a column each, and four, or one for their warp, a row.
  int64_t PaddingOf(const SharedOperand& form, bool turned) const {
    if (!tile_.ByUnits()) return turned || form.terms_last ? run_ : 0;
    return run_ == kRun && !form.terms_last ? 2 * run_ : run_;
  }

  int64_t ExtentOf(size_t axis) const {
    return axis == row() ? rows_ : columns_;
  }

  // The element of an operand, or 0 beyond its end.
  Expr Inside(const SharedOperand& form, const Indices& i, Expr load) const {
    const auto [term, element] = form.TermAndElement(i);
    std::vector<Expr> conditions;
    const auto check = [&](const Expr& index, bool is_last, int64_t extent,
                           int64_t covered) {
      if (covered == extent) return;
      // The elements of a run have one answer.
      const int64_t run = is_last ? form.run : 1;
      conditions.push_back(run == 1 ? tir::Lt(index, tir::MakeInt(extent))
                                    : tir::Lt(index / tir::MakeInt(run),
                                              tir::MakeInt(extent / run)));
    };
    const int64_t extent = ExtentOf(form.axis);
    const TileSide& side = form.axis == row() ? tile_.rows : tile_.columns;
    check(element, !form.terms_last, extent, Covered(extent, side.extent()));
    check(term, form.terms_last, terms_, covered_terms_);
    if (conditions.empty()) return load;
    Expr all = conditions[0];
    if (conditions.size() > 1) all = tir::And(all, conditions[1]);
    const Expr zero = tir::MakeConst(load->dtype, 0);
    return tir::MakeSelect(all, std::move(load), zero);
  }

  Schedule* const schedule_;
  Product product_;
  Product of_result_{};  // before axes of sides are joined
  Stage* stage_ = nullptr;
  BlockTile tile_;
  const int64_t run_;    // elements that are copied at once
  const int64_t chunk_;  // SharedOperand::chunk
  int64_t rows_ = 0, columns_ = 0, terms_ = 0, covered_terms_ = 0;
};

}  // namespace

bool TermsComeInRuns(const Operation& op, size_t terms, size_t axis,
                     size_t other) {
  const tir::Load& load = *OperandOf(op, axis, other);
  const int64_t extent = GuessExtent(op.reduce_extent[terms]);
  return kBytesAtOnce / static_cast<int64_t>(load.dtype.bytes()) == kRun &&
         extent % kRun == 0 && InAlignedRuns(load, op.reduce_axis[terms], kRun);
}

int64_t SharedBytes(const BlockTile& tile, DataType operands) {
  const int64_t run = kBytesAtOnce / operands.bytes();
  if (tile.multipliers == Multipliers::kWarpGroups) {
    return (tile.rows.extent() + tile.columns.extent()) * tile.step *
           operands.bytes();
  }
  const int64_t padding = tile.ByUnits() ? 2 * run : run;
  const int64_t sides = tile.rows.extent() + tile.columns.extent();
  const int64_t elements = tile.ByUnits() || tile.terms_last
                               ? sides * (tile.step + padding)
                               : (sides + 2 * padding) * tile.step;
  return elements * operands.bytes();
}

void MakeProductLoops(Schedule* schedule, Stage* stage, const BlockTile& tile,
                      int64_t chunks) {
  Scheduler(schedule, stage, tile, chunks).Run();
}

}  // namespace ingot::te::gpu
