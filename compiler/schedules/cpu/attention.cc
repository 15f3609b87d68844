// Attention of many queries, without a matrix of all their scores.
#include <algorithm>
#include <limits>

#include "compiler/schedules/cpu/attention_loops.h"
#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::cpu {
namespace {

// Fewer queries would leave most of a vector idle: their scores are a small
// matrix.
constexpr int64_t kFewestQueries = 16;
// Arrays that stay in a second-level cache, on any stack.
constexpr int64_t kMostBytes = 128 << 10;

// Bytes of the arrays that one thread needs.
int64_t AttentionBytes(const AttentionStages& stages,
                       const AttentionBlocks& blocks) {
  const int64_t depth = GuessExtent(stages.scaled->output().shape()[3]);
  const int64_t columns = GuessExtent(stages.values->output().shape()[4]);
  const int64_t element = stages.scores->output().dtype().bytes();
  // A few more for each query: its largest score, sums, tiles.
  constexpr int64_t kFew = 32;
  return blocks.width() * element *
         (blocks.panels * (depth + columns) + kAttentionKeys + columns + kFew);
}

AttentionBlocks BlocksOf(const ScheduleChoice& choice, const Stage& product,
                         const MachineModel& machine) {
  AttentionBlocks blocks;
  blocks.tile = {choice.Get("keys"), choice.Get("vectors")};
  blocks.lanes = LanesFor(product, machine);
  blocks.panels = choice.Get("panels");
  return blocks;
}

bool Matches(const ScheduleSite& site) {
  const auto stages = FindAttention(site.schedule, site.stage);
  if (!stages) return false;
  const auto& queries = stages->scaled->output().shape();
  const AttentionBlocks least = {
      {1, 1}, LanesFor(site.stage, site.machine.ForSums()), 1};
  return GuessExtent(queries[2]) >= kFewestQueries && ConstExtent(queries[3]) &&
         ConstExtent(stages->values->output().shape()[4]) &&
         AttentionBytes(*stages, least) <= kMostBytes;
}

ScheduleSpace Space(const ScheduleSite& site) {
  const AttentionStages stages = *FindAttention(site.schedule, site.stage);
  const int64_t queries = GuessExtent(stages.scaled->output().shape()[2]);
  const double products = static_cast<double>(GuessWork(&site.stage)) /
                          static_cast<double>(queries);
  ScheduleSpace space;
  space.parameters = {{"keys", {6, 4, 8, 12, 3, 2, 1}},
                      {"vectors", {2, 3, 1}},
                      {"panels", {4, 2, 1, 8}}};
  space.cost = [=, &site](const ScheduleChoice& choice) {
    const AttentionBlocks blocks = BlocksOf(choice, site.stage, site.machine);
    if (AttentionBytes(stages, blocks) > kMostBytes) {
      return std::numeric_limits<double>::infinity();
    }
    const int64_t vectors = (queries + blocks.lanes - 1) / blocks.lanes;
    // Taken wherever it matches: its sums have an order of their own, which
    // must not depend on what a machine's other templates cost.
    constexpr double kPreferred = 1e-3;
    return kPreferred * products * static_cast<double>(vectors) *
           SpareProductCycles(site.machine, blocks.tile);
  };
  return space;
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel& machine) {
  const AttentionStages stages = *FindAttention(*schedule, *stage);
  schedule->WriteLoops(
      stages.result, AttentionLoops(stages, BlocksOf(choice, *stage, machine)));
}

}  // namespace

ScheduleTemplate Attention() {
  ScheduleTemplate t;
  t.name = "cpu.attention";
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
