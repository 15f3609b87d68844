#include "compiler/schedules/gpu/product.h"

#include <algorithm>
#include <utility>

#include "compiler/schedules/stage_facts.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/ir.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::gpu {
namespace {

bool AreOperands(const Operation& op, size_t rows, size_t columns) {
  return OperandOf(op, rows, columns) != nullptr &&
         OperandOf(op, columns, rows) != nullptr;
}

// The reduce axis of which steps waste least; of equals the last, whose
// elements may be neighbours.
size_t AxisOfTerms(const Operation& op) {
  constexpr int64_t kStep = 16;
  size_t best = 0;
  double most = 0;
  for (size_t i = 0; i < op.reduce_extent.size(); ++i) {
    const int64_t extent = GuessExtent(op.reduce_extent[i]);
    const double used = static_cast<double>(extent) /
                        static_cast<double>(CeilDiv(extent, kStep) * kStep);
    if (extent == 1 || used < most) continue;
    best = i;
    most = used;
  }
  return best;
}

// Whether no reduce axis alone fills a step of units, but all together do.
bool OnlyJoinedFill(const Stage& stage, size_t terms) {
  return GuessExtent(stage.op().reduce_extent[terms]) < kUnitTerms &&
         TermsOf(&stage) >= kUnitTerms;
}

// An element as it is, or of 16 bits and made wider; otherwise null.
const tir::Load* FactorOf(const Expr& e) {
  const auto* cast = tir::As<tir::Cast>(e);
  const bool is_wider = cast != nullptr && cast->dtype.is_float() &&
                        cast->value->dtype.is_float() &&
                        cast->value->dtype.bits == 16;
  return tir::As<tir::Load>(is_wider ? cast->value : e);
}

// Zeros as terms change nothing where values are products.
bool IsSumOfProducts(const Operation& op) {
  const auto* product = tir::As<tir::Binary>(op.value);
  if (!op.reducer.is_sum || product == nullptr ||
      product->op != tir::BinaryOp::kMul) {
    return false;
  }
  const tir::Load* const a = FactorOf(product->a);
  const tir::Load* const b = FactorOf(product->b);
  return a != nullptr && b != nullptr && a->buffer != b->buffer &&
         a->dtype == b->dtype;
}

}  // namespace

std::optional<Product> FindProduct(const Stage& stage,
                                   Multipliers multipliers) {
  const Operation& op = stage.op();
  const size_t rank = op.axis.size();
  if (!stage.IsReduce() || rank < 2 || !HasConstantExtents(stage) ||
      !IsSumOfProducts(op)) {
    return std::nullopt;
  }
  const auto is_one = [&shape = stage.output().shape()](size_t axis) {
    return GuessExtent(shape[axis]) == 1;
  };
  const size_t terms = AxisOfTerms(op);
  const bool joins_terms =
      multipliers == Multipliers::kWarps && OnlyJoinedFill(stage, terms);
  size_t column = rank - 1;
  while (column > 1 && is_one(column)) --column;
  for (size_t row = column; row-- > 0;) {
    if (is_one(row) || !AreOperands(op, row, column)) continue;
    Product found{{row, row}, {column, column}, terms, joins_terms};
    if (multipliers == Multipliers::kWarpGroups) return found;
    while (found.columns.first - 1 > row && !is_one(found.columns.first - 1) &&
           AreOperands(op, row, found.columns.first - 1)) {
      --found.columns.first;
    }
    for (size_t axis = row; axis-- > 0;) {
      if (is_one(axis)) continue;
      if (!AreOperands(op, axis, column)) break;
      found.rows.first = axis;
    }
    return found;
  }
  if (!AreOperands(op, rank - 2, rank - 1)) return std::nullopt;
  return Product{
      {rank - 2, rank - 2}, {rank - 1, rank - 1}, terms, joins_terms};
}

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

DataType OperandType(const Stage& product) {
  return LoadsOf(product.op().value)[0]->dtype;
}

ProductSizes SizesOf(const Stage& stage, const Product& product) {
  const auto& shape = stage.output().shape();
  const auto extent_of = [&shape](const ProductSide& side) {
    int64_t extent = 1;
    for (size_t i = side.first; i <= side.last; ++i) {
      extent *= GuessExtent(shape[i]);
    }
    return extent;
  };
  ProductSizes sizes;
  sizes.rows = extent_of(product.rows);
  sizes.columns = extent_of(product.columns);
  const int64_t all = sizes.rows * sizes.columns;
  sizes.batch = all == 0 ? 0 : OutputElements(&stage) / all;
  sizes.terms = product.joins_terms
                    ? TermsOf(&stage)
                    : GuessExtent(stage.op().reduce_extent[product.terms]);
  sizes.taps = sizes.terms == 0 ? 0 : TermsOf(&stage) / sizes.terms;
  return sizes;
}

BlockTile TileOfWarps(Multipliers multipliers, int64_t row_warps,
                      int64_t column_warps, int64_t rows, int64_t columns,
                      int64_t step) {
  // A warp's threads have the sums of 8 x 8 elements as eight rows of four
  // threads, each with two neighbours (PTX's mma.m16n8k16, m16n8k8 and wgmma).
  constexpr int64_t kRowThreads = 8, kColumnThreads = 4, kPair = 2;
  BlockTile tile;
  tile.multipliers = multipliers;
  tile.rows.threads = kRowThreads * row_warps;
  tile.rows.part = rows / tile.rows.threads;
  tile.rows.run = 1;
  tile.rows.warp = kRowThreads;
  tile.rows.in_pairs = false;
  // Units of four warps take 16 neighbouring rows of each.
  if (multipliers == Multipliers::kWarpGroups) tile.rows.turns = 2;
  tile.columns.threads = kColumnThreads * column_warps;
  tile.columns.part = columns / tile.columns.threads;
  tile.columns.run = kPair;
  tile.columns.warp = kColumnThreads;
  tile.step = step;
  return tile;
}

bool Fills(const BlockTile& tile, const ProductSizes& sizes, int64_t chunks) {
  return tile.rows.extent() <= sizes.rows &&
         tile.columns.extent() <= sizes.columns && sizes.terms % chunks == 0;
}

double TilesCost(const BlockTile& tile, const ProductSizes& sizes,
                 int64_t cores, int64_t chunks, double of_term) {
  const int64_t blocks = chunks * sizes.batch *
                         CeilDiv(sizes.rows, tile.rows.extent()) *
                         CeilDiv(sizes.columns, tile.columns.extent());
  const int64_t steps = sizes.Steps(tile.step, chunks);
  const double compute =
      Turns(blocks, cores) * static_cast<double>(tile.step * steps) * of_term;
  const int64_t results = 4 * sizes.batch * sizes.rows * sizes.columns;
  return compute + WaitsOf(steps) +
         (chunks == 1 ? 0 : JoinOf(chunks * results));
}

bool IsProductOf(const ScheduleSite& site, Multipliers multipliers,
                 int64_t least_rows, int64_t least_columns,
                 int64_t least_terms) {
  if (site.machine.group_cores == 0 || !site.stage.IsUntouched()) return false;
  const std::optional<Product> product = FindProduct(site.stage, multipliers);
  if (!product.has_value()) return false;
  const ProductSizes sizes = SizesOf(site.stage, *product);
  return sizes.rows >= least_rows && sizes.columns >= least_columns &&
         sizes.terms >= least_terms && sizes.taps > 0;
}

double UnitsCost(const BlockTile& tile, DataType operands, double units,
                 double reads) {
  const auto rows = static_cast<double>(tile.rows.extent()),
             columns = static_cast<double>(tile.columns.extent());
  const double multiply =
      rows * columns / units * (reads <= 1 ? 1 + 0.4 * reads : 1.4 * reads);
  // A multiprocessor's 128 lanes get so many bytes a cycle from memory that all
  // multiprocessors share.
  constexpr double kLanesPerByte = 128.0 / 40;
  const double copy =
      (rows + columns) * static_cast<double>(operands.bytes()) * kLanesPerByte;
  return std::max(multiply, copy);
}

bool AreBoxes(const ScheduleSite& site, const Product& product) {
  const Operation& op = site.stage.op();
  const tir::VarPtr& term = op.reduce_axis[product.terms];
  // A multiple of every tile's side.
  constexpr int64_t kAnySide = 768;
  const auto is_boxed = [&](size_t axis, size_t other) {
    const tir::Load* const load = OperandOf(op, axis, other);
    const Stage* const source = site.schedule.Find(load->buffer.get());
    constexpr int64_t kStrideBytes = 16;
    constexpr size_t kMostDimensions = 5;
    const std::optional<int64_t> row = ConstExtent(load->buffer->shape.back());
    if ((source != nullptr &&
         source->op().kind != OperationKind::kPlaceholder) ||
        load->indices.size() > kMostDimensions || !row.has_value() ||
        *row * load->dtype.bytes() % kStrideBytes != 0) {
      return false;
    }
    // Each of the two goes along a dimension of its own, one along the last.
    // Beyond its end a box has zeros, as what sticks out of a tile has: it has
    // to be the dimension's end, too, where tiles do stick out.
    const tir::VarPtr& side = op.axis[axis];
    int of_term = 0, of_side = 0, last = 0;
    for (size_t d = 0; d < load->indices.size(); ++d) {
      const Expr& index = load->indices[d];
      const bool has_term = tir::Uses(index, term.get()),
                 has_side = tir::Uses(index, side.get());
      if (!has_term && !has_side) continue;
      const tir::VarPtr& var = has_term ? term : side;
      const Expr& extent = has_term ? op.reduce_extent[product.terms]
                                    : site.stage.output().shape()[axis];
      const tir::Affine place = tir::ToAffine(index);
      const bool is_all =
          place == tir::Affine::Atom(var) &&
          ConstExtent(load->buffer->shape[d]) == ConstExtent(extent);
      const bool is_even =
          GuessExtent(extent) % (has_term ? kBoxRow : kAnySide) == 0;
      if ((has_term && has_side) || place.CoefficientOf(var.get()) != 1 ||
          (!is_all && !is_even)) {
        return false;
      }
      ++(has_term ? of_term : of_side);
      last += d + 1 == load->indices.size();
    }
    return of_term == 1 && of_side == 1 && last == 1;
  };
  return is_boxed(product.rows.first, product.columns.first) &&
         is_boxed(product.columns.first, product.rows.first);
}

ScheduleTemplate ProductTemplate(
    std::string name, std::function<bool(const ScheduleSite&)> matches,
    std::function<ScheduleSpace(const ScheduleSite&)> space,
    std::function<BlockTile(const ScheduleChoice&)> tile_of) {
  ScheduleTemplate t;
  t.name = std::move(name);
  t.scope = TemplateScope::kAnchor;
  t.matches = std::move(matches);
  t.space = std::move(space);
  t.build = [tile_of = std::move(tile_of)](Schedule* schedule, Stage* stage,
                                           const ScheduleChoice& choice,
                                           const MachineModel&) {
    MakeProductLoops(schedule, stage, tile_of(choice), choice.Get("chunks"));
  };
  return t;
}

}  // namespace ingot::te::gpu
