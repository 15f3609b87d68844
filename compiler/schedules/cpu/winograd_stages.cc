#include "compiler/schedules/cpu/winograd_stages.h"

#include <algorithm>

#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/tags.h"

namespace ingot::te::cpu {
namespace {

Stage* OnlyReader(const Schedule& schedule, const Stage& stage) {
  const std::vector<Stage*> readers = schedule.Readers(&stage);
  return readers.size() == 1 ? readers[0] : nullptr;
}

// The stage that `reader` reads and that is a step of the algorithm.
Stage* StepBefore(const Schedule& schedule, const Stage& reader) {
  for (const Tensor& t : reader.op().inputs) {
    Stage* producer = schedule.Find(t);
    if (producer != nullptr && !TagOf(producer, kWinograd).empty() &&
        OnlyReader(schedule, *producer) == &reader) {
      return producer;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<WinogradStages> FindWinogradStages(const Schedule& schedule,
                                                 const Stage& products) {
  WinogradStages s;
  s.products = schedule.Find(products.output());
  s.tiles = StepBefore(schedule, products);
  if (s.tiles == nullptr) return std::nullopt;
  s.rows = StepBefore(schedule, *s.tiles);
  s.back = OnlyReader(schedule, products);
  if (s.rows == nullptr || s.back == nullptr ||
      TagOf(s.back, kWinograd).empty()) {
    return std::nullopt;
  }
  s.pad = FindPad(schedule, *s.rows);
  s.result = OnlyReader(schedule, *s.back);
  if (s.result == nullptr || !s.result->IsUntouched() || s.result->IsReduce() ||
      s.result->axes().size() != 5) {
    return std::nullopt;
  }
  for (Stage* stage : {s.rows, s.tiles, s.products, s.back}) {
    if (stage->is_output()) return std::nullopt;
  }
  return s;
}

bool IsWinograd(const ScheduleSite& site, size_t dimensions) {
  constexpr size_t kOthers = 5;  // n, i, j, c and the block
  return TagOf(&site.stage, kAnchor) == kWinograd &&
         site.stage.axes().size() == kOthers + dimensions &&
         FindWinogradStages(site.schedule, site.stage).has_value();
}

WinogradProblem::WinogradProblem(const WinogradStages& stages,
                                 const MachineModel& machine) {
  const auto& shape = stages.products->output().shape();
  const int64_t reach = GuessExtent(shape[1]);
  tile = reach - 2;
  points = reach * reach;
  blocks = GuessExtent(shape[3]);
  block = GuessExtent(shape.back());
  input_channels = 1;
  for (const Expr& extent : stages.products->op().reduce_extent) {
    input_channels *= GuessExtent(extent);
  }
  lanes = std::min(LanesFor(*stages.products, machine), block);
  element = stages.products->output().dtype().bytes();
}

std::vector<int64_t> WinogradVectors(int64_t blocks, int64_t block,
                                     int64_t lanes) {
  std::vector<int64_t> vectors;
  const int64_t all = blocks * block / lanes;
  for (int64_t v = 1; v <= kMaxTileVectors; ++v) {
    const bool whole_blocks = v * lanes % block == 0 || block == lanes;
    if (v == 1 || (all % v == 0 && whole_blocks)) vectors.push_back(v);
  }
  return vectors;
}

void ScheduleWinogradProducts(Stage* products, const std::vector<Loop>& outside,
                              const std::vector<Loop>& inside,
                              RegisterTile tile, int64_t lanes,
                              const MachineModel& machine) {
  auto [v, l] = products->Split(products->axes().back(), lanes);
  std::vector<Loop> order = {products->axis(0), products->axis(1),
                             products->axis(2)};
  order.insert(order.end(), outside.begin(), outside.end());
  order.insert(order.end(), products->reduce_axes().begin(),
               products->reduce_axes().end());
  order.insert(order.end(), inside.begin(), inside.end());
  order.insert(order.end(), {products->axis(3), v, l});
  products->Reorder(order);
  products->AccumulateAt(outside.back());
  Loop terms = products->reduce_axis(1);
  if (products->output().dtype().is_float() &&
      IsWorthWritingOut(machine, tile,
                        GuessExtent(products->op().reduce_extent[1]))) {
    products->Unroll(terms);
    terms = products->reduce_axis(0);
  }
  PrefetchWeights(products, terms, machine, /*in_turns=*/true);
  for (Loop loop : inside) products->Unroll(loop);
  products->Unroll(products->axis(3));
  products->Unroll(v);
  products->Vectorize(l);
}

void ScheduleWinogradBack(Stage* back, int64_t lanes) {
  const int last = static_cast<int>(back->axes().size()) - 1;
  const Loop row = back->axis(last - 2), column = back->axis(last - 1);
  auto [v, l] = back->Split(back->axis(last), lanes);
  back->Reorder({column, row, v, l});
  for (Loop loop : {row, column, v}) back->Unroll(loop);
  back->Vectorize(l);
}

}  // namespace ingot::te::cpu
