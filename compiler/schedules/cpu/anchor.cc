#include "compiler/schedules/cpu/anchor.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/tags.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::cpu {
namespace {

// The only reader of `stage`, where it may do its work in the loops of `stage`;
// null when there is none.
Stage* OnlyReader(const Schedule& schedule, const Stage& stage) {
  const std::vector<Stage*> readers = schedule.Readers(&stage);
  const bool fits = !stage.is_output() && readers.size() == 1 &&
                    readers[0]->IsUntouched() &&
                    ReadsAtOwnPoints(readers[0], &stage);
  return fits ? readers[0] : nullptr;
}

}  // namespace

const Stage* ResultOf(const Schedule& schedule, const Stage& stage) {
  const Stage* reader = OnlyReader(schedule, stage);
  return reader != nullptr ? reader : &stage;
}

Anchor MakeAnchor(Schedule* schedule, Stage* stage) {
  if (Stage* reader = OnlyReader(*schedule, *stage)) return {stage, reader};
  Stage* accumulator = schedule->CacheWrite(stage);
  return {accumulator, stage};
}

int64_t ChannelsOfGroup(const Stage& stage, int64_t channels) {
  int64_t of_group = 0;
  return absl::SimpleAtoi(TagOf(&stage, kGroupChannels), &of_group) ? of_group
                                                                    : channels;
}

const tir::Load* RightOperand(const Stage& stage) {
  const tir::Var* column = stage.op().axis.back().get();
  for (const tir::Load* load : LoadsOf(stage.op().value)) {
    if (DependsOn(*load, column)) return load;
  }
  return nullptr;
}

size_t RowAxis(const Stage& stage) {
  const Operation& op = stage.op();
  const tir::Load* right = RightOperand(stage);
  const size_t last = op.axis.size() - 2;
  for (size_t axis = last;; --axis) {
    if (right == nullptr || DependsOn(*right, op.axis[axis].get())) break;
    if (GuessExtent(stage.output().shape()[axis]) > 1) return axis;
    if (axis == 0) break;
  }
  return last;
}

MachineModel MachineOfTiles(const Stage& product, const MachineModel& machine) {
  MachineModel model = machine;
  const auto* call = tir::As<tir::Call>(product.op().value);
  if (call == nullptr) return model;
  int others = 0;
  if (call->intrinsic == tir::Intrinsic::kDot4 &&
      !machine.Has(MachineUnit::kInt8Dot)) {
    // The second halves of an element and of two vectors, and two products.
    others = 5;
  } else if (call->intrinsic == tir::Intrinsic::kDot2) {
    others = 2;  // products, which another instruction adds
  }
  model.vector_registers = std::max(1, model.vector_registers - others);
  return model;
}

}  // namespace ingot::te::cpu
