#include "compiler/te/workspaces.h"

#include <utility>

namespace ingot::te {
namespace {

// The bytes that all tiles that are live at once may take; larger ones go to a
// workspace. Below tir::kMaxStackBytes, which is the limit for everything.
constexpr int64_t kMaxTileBytes = 192 << 10;
// A box larger than this is no part that stays in a cache.
constexpr int64_t kMaxBoxBytes = 64 << 20;

// How many parts the box has along each axis, then the extents of one.
std::vector<Expr> InParts(std::vector<Expr> shape,
                          const std::vector<int64_t>& part) {
  for (size_t i = 0; i < part.size(); ++i) {
    int64_t extent = 0;
    tir::AsConstInt(shape[i], &extent);
    shape[i] = tir::MakeInt((extent + part[i] - 1) / part[i]);
  }
  for (const int64_t extent : part) shape.push_back(tir::MakeInt(extent));
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

Place Workspaces::PlaceFor(const Stage& stage, Storage storage,
                           const std::vector<int64_t>& part,
                           const std::vector<Side>& box, LoopState* state,
                           tir::Buffer* local) {
  const Tensor& t = stage.output();
  *local = nullptr;
  if (stage.is_output()) return {t.buffer, {}, {}};
  int64_t bytes = t.dtype().bytes();
  std::vector<Expr> shape;
  std::vector<Affine> origin;
  bool constant = storage != Storage::kWorkspace && stage.IsAttached();
  for (const Side& side : box) {
    const auto extent = side.extent.AsConst();
    constant = constant && extent && bytes <= kMaxBoxBytes;
    if (!constant) return {WholeOf(t), {}, {}};
    bytes *= *extent;
    shape.push_back(tir::MakeInt(*extent));
    origin.push_back(side.min);
  }
  if (storage == Storage::kShared) {
    *local = tir::MakeBuffer(t.buffer->name, t.dtype(), std::move(shape),
                             tir::Scope::kShared);
    return {*local, std::move(origin), {}};
  }
  if (storage == Storage::kRegisters) {
    *local = tir::MakeBuffer(t.buffer->name, t.dtype(),
                             InParts(std::move(shape), part),
                             tir::Scope::kRegisters);
    return {*local, std::move(origin), part};
  }
  if (constant && storage == Storage::kAuto &&
      state->stack_bytes + bytes <= kMaxTileBytes) {
    state->stack_bytes += bytes;
    *local = tir::MakeBuffer(t.buffer->name, t.dtype(), std::move(shape),
                             tir::Scope::kStack);
    return {*local, std::move(origin), {}};
  }
  if (!constant || state->in_parallel) return {WholeOf(t), {}, {}};
  return {PartOf(t, std::move(shape)), std::move(origin), {}};
}

}  // namespace ingot::te
