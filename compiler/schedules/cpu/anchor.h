// An anchor (a convolution, a product of matrices) with the element-wise
// operations after it.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_ANCHOR_H_
#define INGOT_COMPILER_SCHEDULES_CPU_ANCHOR_H_

#include <cstddef>
#include <cstdint>

#include "compiler/machine/machine_model.h"
#include "compiler/te/schedule.h"
#include "compiler/tir/ir.h"

namespace ingot::te::cpu {

// `accumulator` reduces; `result` has the same axes, reads it at its own
// indices, and does the rest (bias, activation, residual) while the tile is in
// registers.
struct Anchor {
  Stage* accumulator;
  Stage* result;
};

// The stage whose loops will be those of the anchor: the only reader of `stage`
// where that fits, or `stage` itself.
const Stage* ResultOf(const Schedule& schedule, const Stage& stage);

// The anchor of `stage`, with a new accumulator before the stage where
// ResultOf is the stage itself.
Anchor MakeAnchor(Schedule* schedule, Stage* stage);

// The output channels of a convolution, which has so many, that read the same
// data: those of a group.
int64_t ChannelsOfGroup(const Stage& stage, int64_t channels);

// The right operand of a product (kMatmul and the like), which depends on the
// last axis; null: none does.
const tir::Load* RightOperand(const Stage& stage);
// The axis whose elements share each column of the right operand. It is the one
// before the columns, or where that has one element, one before it.
size_t RowAxis(const Stage& stage);

// The machine as tiles of a product or convolution find it: products of bytes
// that are made of pairs leave them fewer registers.
MachineModel MachineOfTiles(const Stage& product, const MachineModel& machine);

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_ANCHOR_H_
