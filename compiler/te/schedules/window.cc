// Loops whose cost is memory: depthwise convolutions and pools. A vector of
// channels (or of neighbouring columns) at a time, a stretch of the row in
// registers, the window unrolled so that neighbours share what they load.
#include <algorithm>

#include "compiler/te/schedules/anchor.h"
#include "compiler/te/schedules/common.h"
#include "compiler/te/tags.h"

namespace ingot::te {
namespace {

// Rows of output that are made from one padded tile: the tile should stay in
// the first-level cache.
int64_t RowsPerTile(const Stage* out, const Stage* pad, int h_axis,
                    const CpuModel& cpu) {
  int64_t row_bytes = pad->output().dtype().bytes();
  for (int i = h_axis + 1; i < pad->output().rank(); ++i) {
    row_bytes *= GuessExtent(pad->output().shape()[i]);
  }
  const int64_t rows = cpu.l1_bytes / 2 / std::max<int64_t>(1, row_bytes);
  const int64_t all = GuessExtent(out->output().shape()[h_axis]);
  return std::clamp<int64_t>(rows, 4, std::max<int64_t>(4, all));
}

}  // namespace

Stage* FindPad(const Schedule& schedule, const Stage* reader) {
  for (const Tensor& t : reader->op().inputs) {
    Stage* producer = schedule.Find(t);
    if (producer != nullptr && !TagOf(producer, kPad).empty() &&
        !producer->is_output() && schedule.Readers(producer).size() == 1) {
      return producer;
    }
  }
  return nullptr;
}

void ScheduleWindow(Schedule* schedule, Stage* stage, const CpuModel& cpu) {
  auto [acc, out] = MakeAnchor(schedule, stage);
  const int rank = static_cast<int>(out->axes().size());
  const int64_t lanes = LanesFor(acc, cpu);
  const auto& shape = out->output().shape();
  const bool blocked = rank == 5;
  const int w_axis = 3, h_axis = 2;

  int64_t window = 1;
  bool constant_window = true;
  for (const Expr& extent : acc->op().reduce_extent) {
    constant_window = constant_window && ConstExtent(extent).has_value();
    window *= GuessExtent(extent);
  }
  const bool unroll_window = constant_window && window <= 25;

  // Output vectors in registers: neighbours in the row.
  int64_t tile = cpu.vector_registers >= 32 ? 8 : 4;
  if (!blocked) tile = 1;
  const int64_t width = GuessExtent(shape[w_axis]);
  tile = std::min(tile, std::max<int64_t>(1, width));
  if (tile > 1 && width % tile != 0 && width % (tile - 1) == 0) --tile;

  Stage* pad = FindPad(*schedule, acc);
  std::vector<Loop> order = {out->axis(0), out->axis(1)};
  Loop row = out->axis(h_axis);
  std::optional<Loop> row_block;
  if (pad != nullptr) {
    auto [o, i] = out->Split(row, RowsPerTile(out, pad, h_axis, cpu));
    row_block = o;
    row = i;
    order.push_back(o);
  }
  order.push_back(row);
  Loop attach;
  if (blocked) {
    auto [wo, wi] = out->Split(out->axis(w_axis), tile);
    auto [bv, bl] = out->Split(out->axis(4), lanes);
    for (Loop loop : {wo, wi, bv, bl}) order.push_back(loop);
    out->Unroll(wi);
    out->Unroll(bv);
    out->Vectorize(bl);
    attach = wo;
  } else {
    auto [wo, wi] = out->Split(out->axis(w_axis), lanes);
    for (Loop loop : {wo, wi}) order.push_back(loop);
    out->Vectorize(wi);
    attach = wo;
  }
  out->Reorder(order);
  const bool parallel = GuessWork(acc) >= kParallelWork;
  FuseParallel(out, row_block || rank < 3 ? 2 : 3, parallel);
  if (pad != nullptr) {
    pad->ComputeAt(out, *row_block);
    ScheduleElementwise(pad, cpu);
  }

  acc->ComputeAt(out, attach);
  std::vector<Loop> inner(acc->axes().begin(), acc->axes().begin() + 3);
  for (Loop loop : acc->reduce_axes()) {
    inner.push_back(loop);
    if (unroll_window) acc->Unroll(loop);
  }
  if (blocked) {
    auto [bv, bl] = acc->Split(acc->axis(4), lanes);
    for (Loop loop : {acc->axis(w_axis), bv, bl}) inner.push_back(loop);
    acc->Unroll(acc->axis(w_axis));
    acc->Unroll(bv);
    acc->Vectorize(bl);
  } else {
    auto [wo, wi] = acc->Split(acc->axis(w_axis), lanes);
    for (Loop loop : {wo, wi}) inner.push_back(loop);
    acc->Vectorize(wi);
  }
  acc->Reorder(inner);
}

}  // namespace ingot::te
