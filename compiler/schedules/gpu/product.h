// Products of matrices, as the templates for them see a reduction, and the
// loops that they share. Private to this folder.
#ifndef INGOT_COMPILER_SCHEDULES_GPU_PRODUCT_H_
#define INGOT_COMPILER_SCHEDULES_GPU_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "compiler/schedules/gpu/items.h"
#include "compiler/te/schedule.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::gpu {

// Axes of the result, one after the other, that are rows or columns as one:
// those of a convolution's image.
struct ProductSide {
  size_t first, last;

  bool IsJoined() const { return first < last; }
  bool Has(size_t axis) const { return first <= axis && axis <= last; }
};

// A multiplication of two loads that the other axes of the result repeat.
struct Product {
  ProductSide rows, columns;  // in this order
  // The reduce axis that is taken step by step, with each combination of the
  // others: a convolution's taps.
  size_t terms;
  // All reduce axes are taken as one, because none fills a step: those of an
  // image's first convolution.
  bool joins_terms = false;
};

// Each thread multiplies for itself, or those of a warp or of four warps do it
// together, by a unit that they share (MachineUnit::kWarpTiles and
// kWarpGroupTiles). What four warps multiply, boxes of both operands, the
// machine copies on its own.
enum class Multipliers { kThreads, kWarps, kWarpGroups };

// Finds a sum of products of two tensors' elements, which may be narrower
// floats than the sum. For groups of warps no axes are joined: a box is of one.
std::optional<Product> FindProduct(const Stage& stage, Multipliers multipliers);

// The load of the factor that depends on `axis` and not on `other`, where it is
// the only one that depends on `axis`; otherwise null.
const tir::Load* OperandOf(const Operation& op, size_t axis, size_t other);

// The type of the operands' elements.
DataType OperandType(const Stage& product);

// A product's sizes as costs need them: `batch` products of `rows` by `columns`
// results, each of which sums `taps` times so many terms.
struct ProductSizes {
  int64_t batch, rows, columns, terms, taps;

  // A block's steps along its part of the sum.
  int64_t Steps(int64_t step, int64_t chunks) const {
    return taps * CeilDiv(CeilDiv(terms, chunks), step);
  }
};
ProductSizes SizesOf(const Stage& stage, const Product& product);

// The part of the result that a block computes, and its steps along the sum.
struct BlockTile {
  // By threads; whose loops they are is not said yet.
  TileSide rows, columns;
  int64_t step;
  Multipliers multipliers = Multipliers::kThreads;
  // Whether threads share operands whose terms come in runs as they lie in
  // memory, and read vectors of terms, not of elements.
  bool terms_last = false;

  int64_t threads() const { return rows.threads * columns.threads; }
  bool ByUnits() const { return multipliers != Multipliers::kThreads; }
};

// A tile of `rows` by `columns` that so many warps along its sides multiply.
BlockTile TileOfWarps(Multipliers multipliers, int64_t row_warps,
                      int64_t column_warps, int64_t rows, int64_t columns,
                      int64_t step);

// Whether no side of the tile is longer than the result's, and `chunks` blocks
// can share the sum.
bool Fills(const BlockTile& tile, const ProductSizes& sizes, int64_t chunks);

// The cost of a product by tiles, in multiply-adds that a multiprocessor's
// threads make each for itself, where a tile takes so many a term.
double TilesCost(const BlockTile& tile, const ProductSizes& sizes,
                 int64_t cores, int64_t chunks, double of_term);

// Whether an untouched stage on a machine of blocks is a product of at least
// that size.
bool IsProductOf(const ScheduleSite& site, Multipliers multipliers,
                 int64_t least_rows, int64_t least_columns,
                 int64_t least_terms = 1);

// The cost of a term where units multiply `units` times as fast as threads do,
// each for itself, and wait `reads` times as long for shared memory as they
// multiply. That, or getting the operands, takes the time.
double UnitsCost(const BlockTile& tile, DataType operands, double units,
                 double reads);

// A template for products whose choice says what a block's tile is, and in how
// many "chunks" its sum comes.
ScheduleTemplate ProductTemplate(
    std::string name, std::function<bool(const ScheduleSite&)> matches,
    std::function<ScheduleSpace(const ScheduleSite&)> space,
    std::function<BlockTile(const ScheduleChoice&)> tile_of);

// Elements of 16 bits in a row of a box (codegen/box_copy.h).
inline constexpr int64_t kBoxRow = 64;

// Whether boxes of both operands lie in memory as a machine copies them: in
// tensors of the kernel's arguments, along one side and the sum, with rows that
// are multiples of 16 bytes.
bool AreBoxes(const ScheduleSite& site, const Product& product);

// Whether the terms of the operand that depends on `axis` lie one after the
// other in memory, in runs of as many as are copied at once.
bool TermsComeInRuns(const Operation& op, size_t terms, size_t axis,
                     size_t other);

// Bytes that the threads of a block share: a part of each operand.
int64_t SharedBytes(const BlockTile& tile, DataType operands);

// Makes the loops of a product by tiles, `chunks` blocks for each of them.
void MakeProductLoops(Schedule* schedule, Stage* stage, const BlockTile& tile,
                      int64_t chunks);

}  // namespace ingot::te::gpu

#endif  // INGOT_COMPILER_SCHEDULES_GPU_PRODUCT_H_
