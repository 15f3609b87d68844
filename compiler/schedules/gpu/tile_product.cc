// Products of matrices: a block computes a tile of the result, step by step
// along the sum. For each step its threads copy the operands' parts into shared
// memory, and each thread adds to a small tile of its own in registers.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/schedules/gpu/items.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::gpu {
namespace {

// Threads along each side of a tile.
constexpr int64_t kSide = 16;

constexpr double kImpossible = std::numeric_limits<double>::infinity();

// The load of the factor that depends on `axis` and not on `other`, where it is
// the only one that depends on `axis`; otherwise null.
const tir::Load* OperandOf(const Operation& op, const tir::VarPtr& axis,
                           const tir::VarPtr& other) {
  const tir::Load* found = nullptr;
  for (const tir::Load* load : LoadsOf(op.value)) {
    if (!DependsOn(*load, axis.get())) continue;
    if (found != nullptr || DependsOn(*load, other.get())) return nullptr;
    found = load;
  }
  return found;
}

// The threads of a block share so much: a part of each operand.
int64_t SharedBytes(const Stage& stage, int64_t tile, int64_t step) {
  return 2 * tile * step * stage.output().dtype().bytes();
}

bool Matches(const ScheduleSite& site) {
  const Operation& op = site.stage.op();
  const size_t rank = op.axis.size();
  if (site.machine.group_cores == 0 || !site.stage.IsUntouched() ||
      TagOf(&site.stage, kAnchor) != kMatmul || rank < 2 ||
      op.reduce_axis.size() != 1) {
    return false;
  }
  const std::vector<const tir::Load*> loads = LoadsOf(op.value);
  const bool two = loads.size() == 2 && loads[0]->buffer != loads[1]->buffer;
  const auto& shape = site.stage.output().shape();
  return two && OperandOf(op, op.axis[rank - 2], op.axis[rank - 1]) &&
         OperandOf(op, op.axis[rank - 1], op.axis[rank - 2]) &&
         std::all_of(shape.begin(), shape.end(),
                     [](const Expr& n) { return ConstExtent(n).has_value(); });
}

// Larger tiles read less of the operands, and leave more of the device idle
// where there are few of them.
ScheduleSpace Space(const ScheduleSite& site) {
  const auto& shape = site.stage.output().shape();
  const size_t rank = shape.size();
  const int64_t rows = GuessExtent(shape[rank - 2]);
  const int64_t columns = GuessExtent(shape[rank - 1]);
  const int64_t batch = OutputElements(&site.stage) / (rows * columns);
  ScheduleSpace space;
  space.parameters = {{"tile", {64, 32, 128}}, {"step", {16, 8}}};
  const int64_t terms = TermsOf(&site.stage);
  const int64_t cores = std::max(site.machine.group_cores, 1);
  const auto fits = [&stage = site.stage, most = site.machine.shared_bytes](
                        int64_t tile, int64_t step) {
    return SharedBytes(stage, tile, step) <= most;
  };
  space.cost = [=](const ScheduleChoice& c) {
    const int64_t tile = c.Get("tile");
    if (!fits(tile, c.Get("step"))) return kImpossible;
    const int64_t blocks = batch * CeilDiv(rows, tile) * CeilDiv(columns, tile);
    const double reads = 1.0 + 24.0 / static_cast<double>(tile);
    const double waits = 1.0 + 0.5 / static_cast<double>(c.Get("step"));
    return static_cast<double>(CeilDiv(blocks, cores) * tile * tile * terms) *
           reads * waits;
  };
  return space;
}

// Lets the threads of a block copy what one step of `acc`, an iteration of
// `step`, reads of an operand: [axes that it depends on, k, axis].
void ShareOperand(Schedule* schedule, Stage* acc, Loop step, size_t axis) {
  const Operation op = acc->op();
  const size_t rank = op.axis.size();
  const size_t other = axis == rank - 1 ? rank - 2 : rank - 1;
  const tir::Load* load = OperandOf(op, op.axis[axis], op.axis[other]);
  std::vector<size_t> axes;
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (DependsOn(*load, op.axis[i].get())) axes.push_back(i);
  }
  std::vector<Expr> shape;
  Indices at;
  for (size_t i : axes) {
    shape.push_back(acc->output().shape()[i]);
    at.push_back(op.axis[i]);
  }
  shape.push_back(op.reduce_extent[0]);
  at.push_back(op.reduce_axis[0]);
  shape.push_back(acc->output().shape()[axis]);
  at.push_back(op.axis[axis]);
  const tir::Buffer source = load->buffer;
  const Indices indices = load->indices;
  const auto value = [&](const Indices& i) {
    std::map<const tir::Var*, Expr> map;
    for (size_t a = 0; a < axes.size(); ++a) {
      map[op.axis[axes[a]].get()] = i[a];
    }
    map[op.reduce_axis[0].get()] = i[axes.size()];
    map[op.axis[axis].get()] = i[axes.size() + 1];
    Indices from;
    for (const Expr& e : indices) from.push_back(tir::Substitute(e, map));
    return tir::MakeLoad(source, std::move(from));
  };
  // Neighbours in memory are read by neighbours among the threads.
  const bool along_sum = AccessStride(*load, op.reduce_axis[0].get()) == 1;
  Stage* const tile = schedule->CacheRead(
      acc, *load, absl::StrCat(source->name, ".tile"), shape, value, at);
  std::vector<Loop> order = tile->axes();
  if (along_sum) std::swap(order[order.size() - 1], order[order.size() - 2]);
  ShareAmongThreads(tile, order, kSide * kSide);
  tile->ComputeAt(acc, step);
  tile->StoreIn(Storage::kShared);
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel&) {
  const int64_t size = choice.Get("tile");
  const int64_t part = size / kSide;
  const auto [acc, out] = MakeAnchor(schedule, stage);
  const size_t rank = out->axes().size();
  // The result: a tile for each block.
  auto [mo, mi] = out->Split(out->axis(rank - 2), size, Tail::kGuard);
  auto [no, ni] = out->Split(out->axis(rank - 1), size, Tail::kGuard);
  std::vector<Loop> blocks(out->axes().begin(), out->axes().end() - 2);
  blocks.insert(blocks.end(), {mo, no});
  CutTile(out, {{mi, part}, {ni, part}}, blocks, {});
  const Loop block = out->Fuse(blocks);
  out->Block(block);
  // The sums, in registers.
  auto [step, term] =
      acc->Split(acc->reduce_axis(0), choice.Get("step"), Tail::kGuard);
  std::vector<Loop> outer = {step};
  outer.insert(outer.end(), acc->axes().begin(), acc->axes().end() - 2);
  CutTile(acc, {{acc->axis(rank - 2), part}, {acc->axis(rank - 1), part}},
          outer, {term});
  std::vector<int64_t> registers(rank - 2, 1);
  registers.insert(registers.end(), {part, part});
  acc->KeepInRegisters(registers);
  acc->ComputeAt(out, block);
  ShareOperand(schedule, acc, step, rank - 2);
  ShareOperand(schedule, acc, step, rank - 1);
}

}  // namespace

ScheduleTemplate TileProduct() {
  ScheduleTemplate t;
  t.name = "gpu.tile_product";
  t.scope = TemplateScope::kAnchor;
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::gpu
