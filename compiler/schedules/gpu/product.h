// Products of matrices, as the templates for them see a reduction, and the
// loops that they share. Private to this folder.
#ifndef INGOT_COMPILER_SCHEDULES_GPU_PRODUCT_H_
#define INGOT_COMPILER_SCHEDULES_GPU_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compiler/schedules/gpu/items.h"
#include "compiler/te/schedule.h"

namespace ingot::te::gpu {

// A multiplication of two loads that the other axes of the result repeat.
struct Product {
  size_t rows;  // an axis of the result
  // Axes that are columns one after the other: those of a convolution's image.
  size_t first_column, columns;
  // The reduce axis that is taken step by step, with each combination of the
  // others: a convolution's taps.
  size_t terms;

  bool HasJoinedColumns() const { return first_column < columns; }
};

// Finds a sum of products of two tensors' elements, which may be narrower
// floats than the sum.
std::optional<Product> FindProduct(const Stage& stage);

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
  // The threads of a warp multiply together, by a unit that they share
  // (MachineUnit::kWarpTiles); otherwise each for itself.
  bool by_warps = false;

  int64_t threads() const { return rows.threads * columns.threads; }
};

// Bytes that the threads of a block share: a part of each operand.
int64_t SharedBytes(const BlockTile& tile, DataType operands);

// Makes the loops of a product by tiles, `chunks` blocks for each of them.
void MakeProductLoops(Schedule* schedule, Stage* stage, const BlockTile& tile,
                      int64_t chunks);

}  // namespace ingot::te::gpu

#endif  // INGOT_COMPILER_SCHEDULES_GPU_PRODUCT_H_
