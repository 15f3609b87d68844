// Products of matrices, and convolutions that are: a block computes a tile of
// the result, step by step along the sum. For each step its threads copy the
// operands' parts into shared memory, and each thread adds to a small tile of
// its own in registers. Tiles that stick out compute zeros there, so that no
// sum asks where it is. Where there are few tiles, several blocks share the sum
// of each, and a second kernel joins their parts.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/schedules/gpu/items.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"
#include "compiler/tir/arith/affine.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::gpu {
namespace {

// Threads along each side of a tile.
constexpr int64_t kSide = 16;

// Threads that run together read least where they are neighbours along both
// sides of a tile.
constexpr int64_t kWarpRows = 4, kWarpColumns = 8;

constexpr double kImpossible = std::numeric_limits<double>::infinity();

// A multiplication of two loads that the other axes of the result repeat.
struct Product {
  size_t rows, columns;  // axes of the result
  size_t terms;          // the reduce axis; others have one element
};

// The load of the factor that depends on `axis` and not on `other`, where it is
// the only one that depends on `axis`; otherwise null.
const tir::Load* OperandOf(const Operation& op, size_t axis, size_t other) {
  const tir::Load* found = nullptr;
  for (const tir::Load* load : LoadsOf(op.value)) {
    if (!DependsOn(*load, op.axis[axis].get())) continue;
    if (found != nullptr || DependsOn(*load, op.axis[other].get())) {
      return nullptr;
    }
    found = load;
  }
  return found;
}

bool AreOperands(const Operation& op, size_t rows, size_t columns) {
  return OperandOf(op, rows, columns) != nullptr &&
         OperandOf(op, columns, rows) != nullptr;
}

// Zeros as terms change nothing where values are products.
bool IsSumOfProducts(const Operation& op) {
  const auto* product = tir::As<tir::Binary>(op.value);
  if (!op.reducer.is_sum || product == nullptr ||
      product->op != tir::BinaryOp::kMul) {
    return false;
  }
  const auto* a = tir::As<tir::Load>(product->a);
  const auto* b = tir::As<tir::Load>(product->b);
  return a != nullptr && b != nullptr && a->buffer != b->buffer;
}

std::optional<Product> FindProduct(const Stage& stage) {
  const Operation& op = stage.op();
  const size_t rank = op.axis.size();
  if (!stage.IsReduce() || rank < 2 || !HasConstantExtents(stage) ||
      !IsSumOfProducts(op)) {
    return std::nullopt;
  }
  Product found{rank - 2, rank - 1, 0};
  bool has_terms = false;
  for (size_t i = 0; i < op.reduce_extent.size(); ++i) {
    if (GuessExtent(op.reduce_extent[i]) == 1) continue;
    if (has_terms) return std::nullopt;
    found.terms = i;
    has_terms = true;
  }
  const auto is_one = [&shape = stage.output().shape()](size_t axis) {
    return GuessExtent(shape[axis]) == 1;
  };
  while (found.columns > 1 && is_one(found.columns)) --found.columns;
  for (found.rows = found.columns; found.rows-- > 0;) {
    if (!is_one(found.rows) && AreOperands(op, found.rows, found.columns)) {
      return found;
    }
  }
  found.rows = rank - 2;
  found.columns = rank - 1;
  if (!AreOperands(op, found.rows, found.columns)) return std::nullopt;
  return found;
}

// The part of the result that a block computes, and its steps along the sum.
struct Tile {
  int64_t rows, columns, step;

  explicit Tile(const ScheduleChoice& choice)
      : rows(choice.Get("rows")),
        columns(choice.Get("columns")),
        step(choice.Get("step")) {}

  // The threads of a block share so much: a part of each operand.
  int64_t SharedElements() const { return (rows + columns + 2 * kRun) * step; }
};

// Whether kRun neighbours along `axis`, which `load` reads one after the other,
// lie at a multiple of so many elements.
bool InAlignedRuns(const tir::Load& load, const tir::VarPtr& axis) {
  if (AccessStride(load, axis.get()) != 1) return false;
  const std::optional<int64_t> row = ConstExtent(load.buffer->shape.back());
  const tir::Affine before =
      tir::ToAffine(load.indices.back()) - tir::Affine::Atom(axis);
  return row.has_value() && *row % kRun == 0 && before.IsMultipleOf(kRun);
}

bool Matches(const ScheduleSite& site) {
  if (site.machine.group_cores == 0 || !site.stage.IsUntouched()) return false;
  const std::optional<Product> product = FindProduct(site.stage);
  if (!product.has_value()) return false;
  const auto& shape = site.stage.output().shape();
  return GuessExtent(shape[product->rows]) >= kSide &&
         GuessExtent(shape[product->columns]) >= kSide;
}

// Counts what the multiprocessors of a device take, in multiply-adds of one.
// Larger tiles read less of the operands, and leave more of the device idle
// where there are few of them; while a block waits for a step, others compute
// if there are any.
struct Costs {
  int64_t batch, rows, columns, terms;
  int64_t cores;

  double Of(const Tile& tile, int64_t chunks) const {
    const int64_t blocks = chunks * batch * CeilDiv(rows, tile.rows) *
                           CeilDiv(columns, tile.columns);
    const int64_t steps = CeilDiv(terms / chunks, tile.step);
    const int64_t elements = tile.rows * tile.columns;
    const double reads =
        SharedReads(LoadsFor(tile.rows), LoadsFor(tile.columns),
                    elements / (kSide * kSide));
    const double compute = Turns(blocks, cores) *
                           static_cast<double>(elements * tile.step * steps) *
                           reads;
    const int64_t results = 4 * batch * rows * columns;
    return compute + WaitsOf(steps) +
           (chunks == 1 ? 0 : JoinOf(chunks * results));
  }

  // Accesses of shared memory for a thread's part of a side: one of 16 bytes
  // takes about as long as two of fewer.
  static double LoadsFor(int64_t side) {
    const int64_t part = side / kSide;
    return part < kRun ? 1 : 2.0 * static_cast<double>(part / kRun);
  }
};

ScheduleSpace Space(const ScheduleSite& site) {
  const Product product = *FindProduct(site.stage);
  const auto& shape = site.stage.output().shape();
  Costs costs;
  costs.rows = GuessExtent(shape[product.rows]);
  costs.columns = GuessExtent(shape[product.columns]);
  const int64_t all = costs.rows * costs.columns;
  costs.batch = all == 0 ? 0 : OutputElements(&site.stage) / all;
  costs.terms = TermsOf(&site.stage);
  costs.cores = std::max(site.machine.group_cores, 1);
  ScheduleSpace space;
  space.parameters = {{"rows", {64, 32, 128, 16}},
                      {"columns", {64, 32, 128, 16}},
                      {"step", {16, 8}},
                      {"chunks", {1, 2, 4, 8, 16}}};
  const bool can_chunk = product.terms == 0;
  const int64_t most =
      site.machine.shared_bytes / site.stage.output().dtype().bytes();
  space.cost = [=](const ScheduleChoice& c) {
    const Tile tile(c);
    // Some threads would have nothing of a larger tile.
    if (tile.SharedElements() > most || tile.rows > costs.rows ||
        tile.columns > costs.columns) {
      return kImpossible;
    }
    const int64_t chunks = c.Get("chunks");
    if (chunks > 1 && (!can_chunk || costs.terms % chunks != 0)) {
      return kImpossible;
    }
    return costs.Of(tile, chunks);
  };
  return space;
}

// Makes the stages of a product and their loops.
class Scheduler {
 public:
  Scheduler(Schedule* schedule, Stage* stage, const ScheduleChoice& choice)
      : schedule_(schedule), product_(*FindProduct(*stage)), tile_(choice) {
    if (choice.Get("chunks") == 1) {
      stage_ = stage;
      return;
    }
    stage_ = schedule->ReduceInChunks(stage, choice.Get("chunks"));
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
    rounded[product_.rows] = tir::MakeInt(RoundedUp(rows_, tile_.rows));
    rounded[product_.columns] =
        tir::MakeInt(RoundedUp(columns_, tile_.columns));
    terms[product_.terms] = tir::MakeInt(RoundedUp(terms_, tile_.step));
    Stage* const acc = schedule_->CacheWrite(stage_, rounded, terms);
    Stage* const out = JoinInto(schedule_, stage_);
    const Loop block = ScheduleResult(out);
    const Loop step = ScheduleSums(acc);
    acc->ComputeAt(out, block);
    ShareOperand(acc, step, product_.rows, product_.columns, rows_);
    ShareOperand(acc, step, product_.columns, product_.rows, columns_);
  }

 private:
  // A tile of the result for each block. Returns the loop over blocks.
  Loop ScheduleResult(Stage* out) {
    std::vector<Loop> blocks = out->axes();
    const auto cut = [&](size_t axis, int64_t size) {
      const auto [tile, inside] =
          out->Split(out->axis(static_cast<int>(axis)), size, Tail::kGuard);
      blocks[axis] = tile;
      return inside;
    };
    const TileSide rows = Rows(cut(product_.rows, tile_.rows));
    TileSide columns = Columns(cut(product_.columns, tile_.columns));
    // Runs are stored as such where the last tile has whole ones.
    columns.is_even = product_.columns + 1 == out->axes().size() &&
                      columns.run == kRun && columns_ % tile_.columns == 0;
    CutTile(out, {rows, columns}, blocks, {});
    const Loop block = out->Fuse(blocks);
    out->Block(block);
    return block;
  }

  TileSide Rows(Loop loop) const {
    const int64_t part = tile_.rows / kSide;
    return {loop, part, std::min(part, kRun), kSide, kWarpRows};
  }
  TileSide Columns(Loop loop) const {
    const int64_t part = tile_.columns / kSide;
    return {loop, part, std::min(part, kRun), kSide, kWarpColumns};
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
    const TileSide rows = Rows(acc->axis(static_cast<int>(product_.rows)));
    const TileSide columns =
        Columns(acc->axis(static_cast<int>(product_.columns)));
    CutTile(acc, {rows, columns}, outer, inner);
    KeepTile(acc, {{product_.rows, rows}, {product_.columns, columns}});
    return step;
  }

  // Lets the threads of a block copy what one step of `acc`, an iteration of
  // `step`, reads of an operand: [axes that it depends on, k, axis]. Beyond the
  // operand, `extent` elements along the axis, there are zeros.
  void ShareOperand(Stage* acc, Loop step, size_t axis, size_t other,
                    int64_t extent) {
    const Operation op = acc->op();
    const tir::Load load = *OperandOf(op, axis, other);
    const tir::VarPtr term = op.reduce_axis[product_.terms];
    std::vector<size_t> axes;
    for (size_t i = 0; i < op.axis.size(); ++i) {
      if (i != axis && DependsOn(load, op.axis[i].get())) axes.push_back(i);
    }
    std::vector<Expr> shape;
    Indices at;
    for (const size_t i : axes) {
      shape.push_back(acc->output().shape()[i]);
      at.push_back(op.axis[i]);
    }
    shape.push_back(op.reduce_extent[product_.terms]);
    at.push_back(term);
    shape.push_back(acc->output().shape()[axis]);
    at.push_back(op.axis[axis]);
    const bool in_runs = op.value->dtype.bytes() == 4 && extent % kRun == 0 &&
                         InAlignedRuns(load, op.axis[axis]);
    const auto value = [&](const Indices& i) {
      std::map<const tir::Var*, Expr> map;
      for (const tir::VarPtr& one : op.reduce_axis) {
        map[one.get()] = tir::MakeInt(0);
      }
      for (size_t a = 0; a < axes.size(); ++a) {
        map[op.axis[axes[a]].get()] = i[a];
      }
      map[term.get()] = i[axes.size()];
      map[op.axis[axis].get()] = i[axes.size() + 1];
      Indices from;
      for (const Expr& e : load.indices)
        from.push_back(tir::Substitute(e, map));
      return Inside(acc, i[axes.size()], i.back(), axis, in_runs,
                    tir::MakeLoad(load.buffer, std::move(from)));
    };
    Stage* const tile = schedule_->CacheRead(
        acc, load, absl::StrCat(load.buffer->name, ".tile"), shape, value, at);
    // Neighbours in memory are read by neighbours among the threads.
    const bool along_sum = AccessStride(load, term.get()) == 1;
    std::vector<Loop> order = tile->axes();
    if (along_sum) {
      const Loop k = order[order.size() - 2], element = order.back();
      order.resize(order.size() - 2);
      const auto [far, near] = tile->Split(k, kTermsTogether);
      order.insert(order.end(), {far, element, near});
    } else if (in_runs) {
      const auto [run, element] = tile->Split(order.back(), kRun);
      order.back() = run;
      tile->Vectorize(element);
    }
    ShareAmongThreads(tile, order, kSide * kSide);
    tile->ComputeAt(acc, step);
    tile->StoreInRows(along_sum ? kRun : 0);
  }

  // The element of an operand, or 0 beyond its end.
  Expr Inside(const Stage* acc, const Expr& term, const Expr& element,
              size_t axis, bool in_runs, Expr load) const {
    std::vector<Expr> conditions;
    const int64_t extent = axis == product_.rows ? rows_ : columns_;
    if (GuessExtent(acc->output().shape()[axis]) != extent) {
      // The elements of a run have one answer.
      conditions.push_back(in_runs ? tir::Lt(element / tir::MakeInt(kRun),
                                             tir::MakeInt(extent / kRun))
                                   : tir::Lt(element, tir::MakeInt(extent)));
    }
    if (RoundedUp(terms_, tile_.step) != terms_) {
      conditions.push_back(tir::Lt(term, tir::MakeInt(terms_)));
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
  const Tile tile_;
  int64_t rows_ = 0, columns_ = 0, terms_ = 0;
};

}  // namespace

ScheduleTemplate TileProduct() {
  ScheduleTemplate t;
  t.name = "gpu.tile_product";
  t.scope = TemplateScope::kAnchor;
  t.matches = Matches;
  t.space = Space;
  t.build = [](Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
               const MachineModel&) {
    Scheduler(schedule, stage, choice).Run();
  };
  return t;
}

}  // namespace ingot::te::gpu
