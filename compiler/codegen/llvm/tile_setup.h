// Prepares multiplications of tiles: divides the registers, and finds sums that
// start from zero.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_TILE_SETUP_H_
#define INGOT_COMPILER_CODEGEN_LLVM_TILE_SETUP_H_

#include <array>
#include <cstdint>
#include <optional>

#include "compiler/codegen/llvm/tile_nest.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// Registers: up to four tiles of sums, then two each of `a` and of `b`.
inline constexpr int kTilesOfA = 4, kTilesOfB = 6;
inline int SumTile(int64_t row, int64_t column) {
  return static_cast<int>(row * 2 + column);
}

// The memory that ldtilecfg reads.
using TileConfiguration = std::array<uint8_t, 64>;

TileConfiguration ConfigurationOf(const TileNest& nest);

// The configuration that all tensorized loops in `loop` need, which may then be
// made before it: where there is one, and nothing in the loop may make another,
// as threads and other functions do. Loops marked parallel are for threads,
// unless `in_parallel`.
std::optional<TileConfiguration> CommonConfiguration(const tir::For& loop,
                                                     const tir::Bounds& bounds,
                                                     bool in_parallel);

// Whether the statement makes zeros of all sums of the nest, and does nothing
// else.
bool ZeroesSums(const tir::Stmt& stmt, const TileNest& nest,
                const tir::Bounds& bounds);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_TILE_SETUP_H_
