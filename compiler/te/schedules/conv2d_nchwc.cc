// Convolutions over channel blocks: the block is the vector, a stretch of the
// output's row times a few blocks of output channels is the register tile.
#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/te/schedules/anchor.h"
#include "compiler/te/schedules/common.h"
#include "compiler/te/tags.h"

namespace ingot::te {

void ScheduleConv2dNchwc(Schedule* schedule, Stage* stage,
                         const CpuModel& cpu) {
  auto [acc, out] = MakeAnchor(schedule, stage);
  const auto& shape = out->output().shape();
  const int64_t lanes = LanesFor(acc, cpu);
  const int64_t block = GuessExtent(shape[4]);
  const int64_t vectors_per_block = std::max<int64_t>(1, block / lanes);
  const int64_t blocks = GuessExtent(shape[1]);
  // One image: threads share the output channels alone, so that the loop over
  // them may have a tail. With more images the loops are fused and may not.
  const bool alone = ConstExtent(shape[0]) == std::optional<int64_t>(1) &&
                     blocks >= 24 && vectors_per_block == 1;
  RegisterTile tile =
      ConvTile(cpu, GuessExtent(shape[3]), blocks * vectors_per_block, alone);
  const int64_t oc_tile =
      std::max<int64_t>(1, tile.vectors / vectors_per_block);

  const auto& reduce = acc->op().reduce_extent;
  int64_t terms = 1;  // of one output element
  for (const Expr& extent : reduce) terms *= GuessExtent(extent);
  const int64_t element = acc->output().dtype().bytes();
  const int64_t tile_weights = terms * oc_tile * block * element;
  const int64_t all_weights = terms * blocks * block * element;
  // Weights that stay in the second-level cache: rows outside, so that each
  // row of data is read from memory once. Otherwise channels outside, so that
  // each weight is.
  const bool rows_outside = all_weights <= cpu.l2_bytes / 2;

  // A tile's weights that do not stay in the first-level cache are used for
  // several rows, a part of the input channels at a time; the sums wait in a
  // small array meanwhile.
  const int64_t width = GuessExtent(shape[3]);
  const int64_t row_bytes = width * oc_tile * block * element;
  int64_t sum_rows = cpu.l1_bytes / 4 / std::max<int64_t>(1, row_bytes);
  sum_rows = std::min(sum_rows, GuessExtent(shape[2]));
  // Windows of several elements use what they load from the data more often
  // and gain by it only where the weights leave the second level, too.
  const int64_t window = terms / std::max<int64_t>(1, GuessExtent(reduce[0])) /
                         (reduce.size() == 4 ? GuessExtent(reduce[3]) : 1);
  const bool split_channels =
      !rows_outside && sum_rows >= 2 &&
      tile_weights > (window == 1 ? cpu.l1_bytes : cpu.l2_bytes / 2);

  auto [co, ci] = out->Split(out->axis(1), oc_tile);
  auto [wo, wi] = out->Split(out->axis(3), tile.rows);
  auto [bv, bl] = out->Split(out->axis(4), lanes);
  Loop row = out->axis(2);
  std::optional<Loop> row_block;
  if (split_channels) {
    auto [o, i] = out->Split(row, sum_rows);
    row_block = o;
    row = i;
  }
  std::vector<Loop> out_order = {out->axis(0)};
  if (rows_outside) {
    for (Loop loop : {row, co}) out_order.push_back(loop);
  } else {
    out_order.push_back(co);
    if (row_block) out_order.push_back(*row_block);
    out_order.push_back(row);
  }
  for (Loop loop : {wo, ci, wi, bv, bl}) out_order.push_back(loop);
  out->Reorder(out_order);
  out->Unroll(ci);
  out->Unroll(wi);
  out->Unroll(bv);
  out->Vectorize(bl);
  const bool parallel = GuessWork(acc) >= kParallelWork;
  const bool even = blocks % oc_tile == 0;
  if (rows_outside) {
    FuseParallel(out, even ? 3 : 2, parallel);
  } else if (!even) {
    if (parallel) out->Parallel(co);
  } else {
    FuseParallel(out, row_block ? 2 : 3, parallel);
  }

  auto [av, al] = acc->Split(acc->axis(4), lanes);
  std::vector<Loop> order = {acc->axis(0)};
  // Each broadcast element meets all vectors of the step before the next, so
  // that only the vectors and one element are live beside the accumulators.
  if (split_channels) {
    acc->ComputeAt(out, *row_block);
    const int64_t per_channel =
        tile_weights / std::max<int64_t>(1, GuessExtent(reduce[0]));
    const int64_t channels =
        std::max<int64_t>(1, cpu.l1_bytes / 2 / per_channel);
    auto [ko, ki] = acc->Split(acc->reduce_axis(0), channels);
    auto [ao, ai] = acc->Split(acc->axis(3), tile.rows);
    for (Loop loop : {ko, acc->axis(2), ao, ki}) order.push_back(loop);
    for (size_t i = 1; i < reduce.size(); ++i) {
      order.push_back(acc->reduce_axis(static_cast<int>(i)));
    }
    for (Loop loop : {ai, acc->axis(1), av, al}) order.push_back(loop);
    acc->AccumulateAt(ao);
    acc->Unroll(ai);
  } else {
    acc->ComputeAt(out, wo);
    order.push_back(acc->axis(2));
    for (Loop loop : acc->reduce_axes()) order.push_back(loop);
    for (Loop loop : {acc->axis(3), acc->axis(1), av, al}) {
      order.push_back(loop);
    }
    acc->Unroll(acc->axis(3));
  }
  acc->Reorder(order);
  acc->Unroll(acc->axis(1));
  acc->Unroll(av);
  acc->Vectorize(al);
}

}  // namespace ingot::te
