// A reduction: the work item of each element makes it, in registers. An output
// that reads it element by element is made by the same items. One number of
// many terms is made step by step.
#include <algorithm>

#include "compiler/schedules/gpu/items.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::gpu {
namespace {

// One number of many terms is made by so many items, then by fewer.
constexpr int64_t kManyTerms = 1024;
constexpr int64_t kTermsOfPart = 32;
constexpr int64_t kMostParts = 16384;

// Windows of so many elements look for padding themselves.
constexpr int64_t kFewTaps = 64;

// The kernels that join the parts take so many cycles to begin.
constexpr double kJoin = 1e6;

// Returns how many items make parts of one number; 1: it is made as others are.
int64_t PartsOf(const Stage& stage) {
  const int64_t terms = TermsOf(&stage);
  int64_t parts = 1;
  if (OutputElements(&stage) != 1 || terms < kManyTerms ||
      !HasConstantExtents(stage)) {
    return parts;
  }
  while (parts < kMostParts && parts * kTermsOfPart < terms) parts *= 2;
  return parts;
}

// Items that read a row of memory each, one element after the other, make a
// core ask for as many pieces of memory as there are items: that takes up to so
// many times as long as neighbours in one piece, which has so many bytes.
constexpr int64_t kRowsApart = 4, kPieceBytes = 32;

// How many times as long a result takes whose neighbouring elements are sums of
// rows of their own.
int64_t RowsApart(const Stage& stage) {
  const Operation& op = stage.op();
  size_t last = op.axis.size();
  while (last > 0 && ConstExtent(stage.output().shape()[last - 1]) == 1) --last;
  if (last == 0) return 1;
  const tir::Var* const axis = op.axis[last - 1].get();
  for (const tir::Load* load : LoadsOf(op.value)) {
    if (load->indices.empty() || !DependsOn(*load, axis) ||
        tir::Uses(load->indices.back(), axis)) {
      continue;
    }
    for (const tir::VarPtr& term : op.reduce_axis) {
      if (AccessStride(*load, term.get()) != 1) continue;
      return std::clamp<int64_t>(
          TermsOf(&stage) * load->dtype.bytes() / kPieceBytes, 1, kRowsApart);
    }
  }
  return 1;
}

double Cycles(const ScheduleSite& site) {
  const int64_t cores = std::max(site.machine.group_cores, 1);
  const int64_t parts = PartsOf(site.stage);
  const int64_t items = parts * OutputElements(&site.stage);
  return TermsCycles(
             CeilDiv(items, cores),
             RowsApart(site.stage) * CeilDiv(TermsOf(&site.stage), parts)) +
         (parts > 1 ? kJoin : 0);
}

void MakeParts(Schedule* schedule, Stage* stage) {
  const int64_t parts = PartsOf(*stage);
  if (parts == 1) return;
  for (Stage* part : schedule->ShareReduction(stage, parts)) {
    Stage* sum = schedule->CacheWrite(part);
    const Loop items = FuseAxes(part);
    part->Parallel(items);
    ReduceAt(sum, part, items);
  }
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice&,
           const MachineModel&) {
  // Each item reads few elements, which others read, too.
  if (TermsOf(stage) <= kFewTaps) InlinePadding(*schedule, *stage);
  MakeParts(schedule, stage);
  if (stage->axes().empty()) {
    SumInBlocks(stage);
    return;
  }
  const auto [sum, out] = MakeAnchor(schedule, stage);
  const Loop items = FuseAxes(out);
  out->Parallel(items);
  ReduceAt(sum, out, items);
}

}  // namespace

ScheduleTemplate Sums() {
  ScheduleTemplate t;
  t.name = "gpu.sums";
  t.scope = TemplateScope::kAnchor;
  t.matches = [](const ScheduleSite& site) {
    return site.stage.IsReduce() && site.stage.IsUntouched();
  };
  t.space = [](const ScheduleSite& site) {
    return ScheduleSpace{
        {}, [cycles = Cycles(site)](const ScheduleChoice&) { return cycles; }};
  };
  t.build = Build;
  return t;
}

}  // namespace ingot::te::gpu
