// Loops of a product by blocks: for each step along the sum a block's threads
// copy the operands' parts into shared memory, and each adds to the part of a
// tile that is its own, in registers. Tiles that stick out compute zeros there,
// so that no sum asks where it is.
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/schedules/gpu/product.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::gpu {
namespace {

// Bytes that a thread copies at once.
constexpr int64_t kBytesAtOnce = 16;

// Whether `run` neighbours along `axis`, which `load` reads one after the
// other, lie at a multiple of so many elements.
bool InAlignedRuns(const tir::Load& load, const tir::VarPtr& axis,
                   int64_t run) {
  if (AccessStride(load, axis.get()) != 1) return false;
  const std::optional<int64_t> row = ConstExtent(load.buffer->shape.back());
  const tir::Affine before =
      tir::ToAffine(load.indices.back()) - tir::Affine::Atom(axis);
  return row.has_value() && *row % run == 0 && before.IsMultipleOf(run);
}

// An operand as the threads of a block share it: [axes that it depends on, two
// more], the sum's and its own side of the result's.
struct SharedOperand {
  std::vector<size_t> axes;  // of the result, besides its own
  size_t axis;               // its own
  // Whether the sum's is the last, as in memory.
  bool terms_last = false;
  // So many neighbours along the last are copied at once; 1: each for itself.
  int64_t run = 1;

  size_t term_at() const { return axes.size() + (terms_last ? 1 : 0); }
  size_t axis_at() const { return axes.size() + (terms_last ? 0 : 1); }
};

// Makes the stages of a product and their loops.
class Scheduler {
 public:
  Scheduler(Schedule* schedule, Stage* stage, const BlockTile& tile,
            int64_t chunks)
      : schedule_(schedule),
        product_(*FindProduct(*stage)),
        tile_(tile),
        run_(kBytesAtOnce / OperandType(*stage).bytes()) {
    if (chunks == 1) {
      stage_ = stage;
      return;
    }
    stage_ = schedule->ReduceInChunks(stage, chunks);
    ++product_.rows;
    ++product_.columns;
    Stage* const joined = JoinInto(schedule, stage);
    joined->Parallel(FuseAxes(joined));
  }

  void Run() {
    const std::vector<Expr>& shape = stage_->output().shape();
    std::vector<Expr> rounded = shape, terms = stage_->op().reduce_extent;
    rows_ = GuessExtent(shape[product_.rows]);
    columns_ = GuessExtent(shape[product_.columns]);
    terms_ = GuessExtent(terms[product_.terms]);
    rounded[product_.rows] = tir::MakeInt(Covered(rows_, tile_.rows.extent()));
    rounded[product_.columns] =
        tir::MakeInt(Covered(columns_, tile_.columns.extent()));
    covered_terms_ = Covered(terms_, tile_.step);
    terms[product_.terms] = tir::MakeInt(covered_terms_);
    Stage* const acc = schedule_->CacheWrite(stage_, rounded, terms);
    Stage* const out = JoinInto(schedule_, stage_);
    const Loop block = ScheduleResult(out);
    const Loop step = ScheduleSums(acc);
    acc->ComputeAt(out, block);
    ShareOperand(acc, step, product_.rows, product_.columns);
    ShareOperand(acc, step, product_.columns, product_.rows);
  }

 private:
  // The units of warps have whole tiles.
  int64_t Covered(int64_t extent, int64_t tile) const {
    return tile_.by_warps ? CeilDiv(extent, tile) * tile
                          : RoundedUp(extent, tile);
  }

  // A tile of the result for each block. Returns the loop over blocks.
  Loop ScheduleResult(Stage* out) {
    std::vector<Loop> blocks = out->axes();
    const auto cut = [&](size_t axis, TileSide side) {
      const auto [tile, inside] = out->Split(out->axis(static_cast<int>(axis)),
                                             side.extent(), Tail::kGuard);
      blocks[axis] = tile;
      side.loop = inside;
      return side;
    };
    const TileSide rows = cut(product_.rows, tile_.rows);
    TileSide columns = cut(product_.columns, tile_.columns);
    // Runs are stored as such where the last tile has whole ones.
    columns.is_even = product_.columns + 1 == out->axes().size() &&
                      (columns.run == kRun || tile_.by_warps) &&
                      columns_ % columns.extent() == 0;
    CutTile(out, {rows, columns}, blocks, {});
    const Loop block = out->Fuse(blocks);
    out->Block(block);
    return block;
  }

  // The sums, in registers. Returns the loop over steps.
  Loop ScheduleSums(Stage* acc) {
    const auto [step, term] = acc->Split(
        acc->reduce_axis(static_cast<int>(product_.terms)), tile_.step);
    std::vector<Loop> outer = {step}, inner = {term};
    for (size_t i = 0; i < acc->axes().size(); ++i) {
      if (i != product_.rows && i != product_.columns) {
        outer.push_back(acc->axis(static_cast<int>(i)));
      }
    }
    for (size_t i = 0; i < acc->reduce_axes().size(); ++i) {
      if (i != product_.terms) {
        inner.push_back(acc->reduce_axis(static_cast<int>(i)));
      }
    }
    TileSide rows = tile_.rows, columns = tile_.columns;
    rows.loop = acc->axis(static_cast<int>(product_.rows));
    columns.loop = acc->axis(static_cast<int>(product_.columns));
    CutTile(acc, {rows, columns}, outer, inner);
    if (tile_.by_warps) acc->Tensorize(term);
    KeepTile(acc, {{product_.rows, rows}, {product_.columns, columns}});
    return step;
  }

  // Says how an operand is shared.
  SharedOperand FormOf(const Operation& op, const tir::Load& load,
                       size_t axis) const {
    SharedOperand form;
    form.axis = axis;
    for (size_t i = 0; i < op.axis.size(); ++i) {
      if (i != axis && DependsOn(load, op.axis[i].get())) {
        form.axes.push_back(i);
      }
    }
    const tir::VarPtr& term = op.reduce_axis[product_.terms];
    // A thread's own multiplications go along a side, those of a warp along
    // the sum or a side, as their unit reads either.
    form.terms_last = tile_.by_warps && AccessStride(load, term.get()) == 1;
    const int64_t extent = form.terms_last ? terms_ : ExtentOf(axis);
    // Their vectors are those of four threads' numbers.
    const bool may_run = tile_.by_warps || run_ == kRun;
    if (may_run && extent % run_ == 0 &&
        InAlignedRuns(load, form.terms_last ? term : op.axis[axis], run_)) {
      form.run = run_;
    }
    return form;
  }

  // Lets the threads of a block copy what one step of `acc`, an iteration of
  // `step`, reads of the operand that depends on `axis`. Beyond its end there
  // are zeros.
  void ShareOperand(Stage* acc, Loop step, size_t axis, size_t other) {
    const Operation op = acc->op();
    const tir::Load load = *OperandOf(op, axis, other);
    const tir::VarPtr term = op.reduce_axis[product_.terms];
    const SharedOperand form = FormOf(op, load, axis);
    std::vector<Expr> shape(form.axes.size() + 2);
    Indices at(shape.size());
    for (size_t a = 0; a < form.axes.size(); ++a) {
      shape[a] = acc->output().shape()[form.axes[a]];
      at[a] = op.axis[form.axes[a]];
    }
    shape[form.term_at()] = op.reduce_extent[product_.terms];
    at[form.term_at()] = term;
    shape[form.axis_at()] = acc->output().shape()[axis];
    at[form.axis_at()] = op.axis[axis];
    const auto value = [&](const Indices& i) {
      std::map<const tir::Var*, Expr> map;
      for (const tir::VarPtr& one : op.reduce_axis) {
        map[one.get()] = tir::MakeInt(0);
      }
      for (size_t a = 0; a < form.axes.size(); ++a) {
        map[op.axis[form.axes[a]].get()] = i[a];
      }
      map[term.get()] = i[form.term_at()];
      map[op.axis[axis].get()] = i[form.axis_at()];
      Indices from;
      for (const Expr& e : load.indices)
        from.push_back(tir::Substitute(e, map));
      return Inside(form, i, tir::MakeLoad(load.buffer, std::move(from)));
    };
    Stage* const tile = schedule_->CacheRead(
        acc, load, absl::StrCat(load.buffer->name, ".tile"), shape, value, at);
    CopyTile(tile, form, AccessStride(load, term.get()) == 1);
    tile->ComputeAt(acc, step);
  }

  // Makes the loops of the copies: neighbours in memory are read by neighbours
  // among the threads.
  void CopyTile(Stage* tile, const SharedOperand& form, bool along_sum) {
    std::vector<Loop> order = tile->axes();
    const bool turned = along_sum && !form.terms_last;
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
    tile->StoreInRows(turned || tile_.by_warps ? run_ : 0);
  }

  int64_t ExtentOf(size_t axis) const {
    return axis == product_.rows ? rows_ : columns_;
  }

  // The element of an operand, or 0 beyond its end.
  Expr Inside(const SharedOperand& form, const Indices& i, Expr load) const {
    // The elements of a run have one answer.
    const auto less = [&](size_t at, int64_t extent) {
      if (form.run == 1 || at + 1 != i.size()) {
        return tir::Lt(i[at], tir::MakeInt(extent));
      }
      return tir::Lt(i[at] / tir::MakeInt(form.run),
                     tir::MakeInt(extent / form.run));
    };
    std::vector<Expr> conditions;
    const int64_t extent = ExtentOf(form.axis);
    const TileSide& side =
        form.axis == product_.rows ? tile_.rows : tile_.columns;
    if (Covered(extent, side.extent()) != extent) {
      conditions.push_back(less(form.axis_at(), extent));
    }
    if (covered_terms_ != terms_) {
      conditions.push_back(less(form.term_at(), terms_));
    }
    if (conditions.empty()) return load;
    Expr all = conditions[0];
    if (conditions.size() > 1) all = tir::And(all, conditions[1]);
    const Expr zero = tir::MakeConst(load->dtype, 0);
    return tir::MakeSelect(all, std::move(load), zero);
  }

  Schedule* const schedule_;
  Product product_;
  Stage* stage_ = nullptr;
  const BlockTile tile_;
  const int64_t run_;  // elements that are copied at once
  int64_t rows_ = 0, columns_ = 0, terms_ = 0, covered_terms_ = 0;
};

}  // namespace

int64_t SharedBytes(const BlockTile& tile, DataType operands) {
  const int64_t padding = kBytesAtOnce / operands.bytes();
  const int64_t sides = tile.rows.extent() + tile.columns.extent();
  const int64_t elements = tile.by_warps ? sides * (tile.step + padding)
                                         : (sides + 2 * padding) * tile.step;
  return elements * operands.bytes();
}

void MakeProductLoops(Schedule* schedule, Stage* stage, const BlockTile& tile,
                      int64_t chunks) {
  Scheduler(schedule, stage, tile, chunks).Run();
}

}  // namespace ingot::te::gpu
