#include "compiler/te/workspaces.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "compiler/tir/arith/simplify.h"

namespace ingot::te {
namespace {

// The bytes that all tiles that are live at once may take; larger ones go to a
// workspace. Below tir::kMaxStackBytes, which is the limit for everything.
constexpr int64_t kMaxTileBytes = 192 << 10;
// A box larger than this is no part that stays in a cache.
constexpr int64_t kMaxBoxBytes = 64 << 20;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Returns how many threads share the box along each axis, then what each has.
std::vector<Expr> OverThreads(std::vector<Expr> shape,
                              const Placement& placement) {
  std::vector<Expr> own;
  for (size_t i = 0; i < placement.shares.size(); ++i) {
    const ThreadShare& share = placement.shares[i];
    int64_t extent = 0;
    tir::AsConstInt(shape[i], &extent);
    const int64_t runs = CeilDiv(extent, share.run);
    const int64_t threads =
        share.threads == 0 ? runs : std::min(runs, share.threads);
    shape[i] = tir::MakeInt(threads);
    const int64_t rounds = CeilDiv(runs, threads * share.turns);
    own.push_back(tir::MakeInt(rounds * share.turns * share.run));
  }
  shape.insert(shape.end(), own.begin(), own.end());
  return shape;
}

}  // namespace

tir::Buffer Workspaces::WholeOf(const Tensor& t) {
  tir::Buffer& buffer = whole_[t.buffer.get()];
  if (buffer == nullptr) {
    buffer = tir::MakeBuffer(t.buffer->name, t.dtype(), t.shape(),
                             tir::Scope::kWorkspace);
    all_.push_back(buffer);
  }
  return buffer;
}

tir::Buffer Workspaces::PartOf(const Tensor& t, std::vector<Expr> shape) {
  tir::Buffer& buffer = part_[t.buffer.get()];
  const auto fits = [&] {
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t wanted = 0, has = 0;
      tir::AsConstInt(shape[i], &wanted);
      tir::AsConstInt(buffer->shape[i], &has);
      if (wanted > has) return false;
    }
    return true;
  };
  if (buffer == nullptr || !fits()) {
    buffer = tir::MakeBuffer(t.buffer->name, t.dtype(), std::move(shape),
                             tir::Scope::kWorkspace);
    all_.push_back(buffer);
  }
  return buffer;
}

Place Workspaces::PlaceFor(const Stage& stage, const Placement& placement,
                           const std::vector<Side>& box, LoopState* state,
                           tir::Buffer* local) {
  const Storage storage = placement.storage;
  const Tensor& t = stage.output();
  *local = nullptr;
  if (stage.is_output()) return {t.buffer, {}, {}};
  if (storage == Storage::kResult) return state->target;
  int64_t bytes = t.dtype().bytes();
  std::vector<Expr> shape;
  const size_t unpadded = box.size() - placement.padding.size();
  std::vector<Affine> origin;
  std::optional<BoxParts> parts;
  if (storage == Storage::kBox && !state->in_parallel) parts = placement.parts;
  int64_t count = 1;  // of parts
  bool constant = storage != Storage::kWorkspace && stage.IsAttached();
  for (const Side& side : box) {
    // A box that one thread after the other has may be larger than what is in
    // it.
    const auto extent =
        storage == Storage::kAuto || storage == Storage::kBox
            ? tir::ConstUpperBound(side.extent.ToExpr(), &state->bounds)
            : side.extent.AsConst();
    constant = constant && extent && bytes <= kMaxBoxBytes;
    if (!constant) return {WholeOf(t), {}, {}};
    const size_t axis = shape.size();
    int64_t padded = *extent;
    if (parts && axis == static_cast<size_t>(parts->axis)) {
      count = CeilDiv(*extent, parts->size);
      padded = parts->size;
    }
    if (axis >= unpadded) padded += placement.padding[axis - unpadded];
    bytes *= padded;
    shape.push_back(tir::MakeInt(padded));
    origin.push_back(side.min);
  }
  if (storage == Storage::kShared) {
    *local = tir::MakeBuffer(t.buffer->name, t.dtype(), std::move(shape),
                             tir::Scope::kShared);
    return {*local, std::move(origin), {}};
  }
  if (storage == Storage::kRegisters) {
    *local = tir::MakeBuffer(t.buffer->name, t.dtype(),
                             OverThreads(std::move(shape), placement),
                             tir::Scope::kRegisters);
    return {*local, std::move(origin), placement.shares};
  }
  if (constant && storage == Storage::kAuto &&
      state->stack_bytes + bytes <= kMaxTileBytes) {
    state->stack_bytes += bytes;
    *local = tir::MakeBuffer(t.buffer->name, t.dtype(), std::move(shape),
                             tir::Scope::kStack);
    return {*local, std::move(origin), {}};
  }
  if (!constant) return {WholeOf(t), {}, {}};
  if (parts) shape.insert(shape.begin(), tir::MakeInt(count));
  if (state->in_parallel) {
    // Each task has a box of its own; the boxes lie one after the other.
    if (storage != Storage::kBox || !state->task || shape.empty() ||
        bytes * state->task->count > kMaxBoxBytes) {
      return {WholeOf(t), {}, {}};
    }
    int64_t first = 0;
    tir::AsConstInt(shape[0], &first);
    shape[0] = tir::MakeInt(first * state->task->count);
    origin[0] = origin[0] - state->task->index * first;
  }
  return {PartOf(t, std::move(shape)), std::move(origin), {}, parts};
}

}  // namespace ingot::te
