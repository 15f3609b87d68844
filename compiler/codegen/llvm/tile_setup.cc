#include "compiler/codegen/llvm/tile_setup.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/access.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::As;
using tir::Expr;
using tir::ForKind;

constexpr int64_t kBytesOfWord = 4;

// The rows or columns in the tile `index` of `count` of them.
int64_t InTile(int64_t count, int64_t index) {
  return std::min<int64_t>(16, count - index * 16);
}

class FindConfiguration final : public tir::StmtVisitor {
 public:
  FindConfiguration(const tir::Bounds& bounds, bool in_parallel)
      : bounds_(bounds), in_parallel_(in_parallel) {}

  using StmtVisitor::Visit;
  void Visit(const Expr&) override {}  // has no loops

  std::optional<TileConfiguration> Find(const tir::For& loop) {
    VisitBody(loop);
    return fits_ ? found_ : std::nullopt;
  }

 protected:
  void VisitFor(const tir::For& loop) override {
    const bool is_for_threads =
        loop.for_kind == ForKind::kParallel || loop.for_kind == ForKind::kBlock;
    if (is_for_threads && !in_parallel_) {
      fits_ = false;
    } else if (loop.for_kind == ForKind::kTensorized) {
      Add(ReadTileNest(loop, bounds_));
    } else {
      VisitBody(loop);
    }
  }
  void VisitCallExtern(const tir::CallExtern&) override { fits_ = false; }

 private:
  void VisitBody(const tir::For& loop) {
    bounds_.SetLoop(loop.var.get(), loop.min, loop.extent);
    Visit(loop.body);
    bounds_.Forget(loop.var.get());
  }

  void Add(const absl::StatusOr<TileNest>& nest) {
    if (!nest.ok()) {
      fits_ = false;
      return;
    }
    const TileConfiguration configuration = ConfigurationOf(*nest);
    fits_ = fits_ && (!found_.has_value() || *found_ == configuration);
    found_ = configuration;
  }

  tir::Bounds bounds_;
  const bool in_parallel_;
  std::optional<TileConfiguration> found_;
  bool fits_ = true;
};

bool IsZero(const Expr& e) {
  if (const auto* lanes = As<tir::Broadcast>(e)) return IsZero(lanes->value);
  const auto* number = As<tir::FloatImm>(e);
  return tir::IsConstInt(e, 0) || (number != nullptr && number->value == 0);
}

// Runs of elements so far apart, as loops and vectors go over them.
class Runs {
 public:
  void Add(int64_t stride, int64_t count) {
    if (count > 1) runs_.emplace_back(stride, count);
  }
  // Returns whether there was such a run, and there is one less now.
  bool Take(int64_t stride, int64_t count) {
    if (count == 1) return true;
    const auto it =
        std::find(runs_.begin(), runs_.end(), std::pair(stride, count));
    if (it == runs_.end()) return false;
    runs_.erase(it);
    return true;
  }
  bool empty() const { return runs_.empty(); }

 private:
  std::vector<std::pair<int64_t, int64_t>> runs_;
};

}  // namespace

// ldtilecfg reads the palette, then for each register the bytes of a row
// from byte 16 on, and the rows from byte 48 on (Intel's manual, volume 1,
// chapter 18).
TileConfiguration ConfigurationOf(const TileNest& nest) {
  TileConfiguration bytes = {};
  bytes[0] = 1;
  const auto set = [&bytes](int tile, int64_t rows, int64_t words) {
    bytes[16 + 2 * tile] = static_cast<uint8_t>(words * kBytesOfWord);
    bytes[48 + tile] = static_cast<uint8_t>(rows);
  };
  for (int64_t i = 0; i < nest.row_tiles(); ++i) {
    const int64_t rows = InTile(nest.rows, i);
    set(kTilesOfA + static_cast<int>(i), rows, nest.depth);
    for (int64_t j = 0; j < nest.column_tiles(); ++j) {
      set(SumTile(i, j), rows, InTile(nest.columns, j));
    }
  }
  for (int64_t j = 0; j < nest.column_tiles(); ++j) {
    set(kTilesOfB + static_cast<int>(j), nest.depth, InTile(nest.columns, j));
  }
  return bytes;
}

std::optional<TileConfiguration> CommonConfiguration(const tir::For& loop,
                                                     const tir::Bounds& bounds,
                                                     bool in_parallel) {
  return FindConfiguration(bounds, in_parallel).Find(loop);
}

bool ZeroesSums(const tir::Stmt& stmt, const TileNest& nest,
                const tir::Bounds& bounds) {
  tir::Bounds inside = bounds;
  std::vector<const tir::For*> loops;
  const tir::Stmt* body = &stmt;
  while (const auto* loop = As<tir::For>(*body)) {
    inside.SetLoop(loop->var.get(), loop->min, loop->extent);
    loops.push_back(loop);
    body = &loop->body;
  }
  const auto* store = As<tir::Store>(*body);
  if (store == nullptr || store->buffer != nest.sum.buffer ||
      !IsZero(store->value)) {
    return false;
  }
  Runs sums;
  sums.Add(nest.sum.row_stride, nest.rows);
  sums.Add(nest.sum.column_stride, nest.column_tiles());
  sums.Add(1, InTile(nest.columns, 0));
  const Access access = AnalyzeAccess(*store->buffer, store->indices, &inside);
  if (!access.scalar() && !(access.is_ramp() && access.contiguous() &&
                            sums.Take(1, access.lanes))) {
    return false;
  }
  tir::Affine first = tir::ToAffine(access.base);
  for (const tir::For* loop : loops) {
    int64_t extent = 0;
    const int64_t stride = first.CoefficientOf(loop->var.get());
    if (!tir::AsConstInt(loop->extent, &extent) ||
        !tir::IsConstInt(loop->min, 0) || !sums.Take(stride, extent)) {
      return false;
    }
    first.Add(tir::Affine::Atom(loop->var), -stride);
  }
  return sums.empty() && first == tir::ToAffine(nest.sum.offset);
}

}  // namespace ingot::codegen
