// The sizes of a convolution over channel blocks, and how long its loops take.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_CONV2D_NCHWC_COSTS_H_
#define INGOT_COMPILER_SCHEDULES_CPU_CONV2D_NCHWC_COSTS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/machine/machine_model.h"
#include "compiler/schedules/cpu/borders.h"
#include "compiler/te/schedule.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::cpu {

// The sizes of one convolution that the order of its loops depends on.
struct BlockedConv2d {
  // Without `pad` no padding need be copied.
  BlockedConv2d(const Stage& acc, const Stage& out, const Stage* pad,
                const MachineModel& machine);

  // Blocks of output channels in a tile of so many vectors.
  int64_t BlocksOf(int64_t vectors) const {
    return std::max<int64_t>(1, vectors / vectors_per_block);
  }
  // Vectors of output channels that read the same data.
  int64_t Vectors() const { return group_blocks * vectors_per_block; }
  // Bytes of the weights of so many blocks of output channels.
  int64_t WeightBytes(int64_t oc_blocks) const {
    return terms * oc_blocks * block * element;
  }
  // Bytes of the data that a row's places read, where no two read the same.
  int64_t RowBytes() const { return width * terms * element; }
  // Blocks of a row's columns worth trying: the whole row first.
  std::vector<int64_t> ColumnBlocks(const MachineModel& machine) const;
  // Rows of a tile's sums that stay in the first-level cache beside the rest.
  int64_t SumRows(int64_t oc_blocks, const MachineModel& machine) const;

  // Weights that stay in the second-level cache: rows outside, so that each
  // row of data is read from memory once. Otherwise channels outside, so that
  // each weight is; and where there is one row, so that threads can share the
  // channels.
  bool PrefersRowsOutside(const MachineModel& machine) const {
    return height > 1 && WeightBytes(blocks) <= machine.l2_bytes / 2;
  }
  // Whether blocks of columns are outside of rows: consecutive rows of the
  // result read some of the same data.
  bool TakesColumnsFirst() const { return window_rows > 1; }
  // A tile's weights that do not stay in the first-level cache are used for
  // several rows, a part of the input channels at a time; the sums wait in a
  // small array meanwhile.
  bool PrefersSplitChannels(int64_t oc_blocks,
                            const MachineModel& machine) const;

  int64_t lanes, block, blocks, vectors_per_block;
  int64_t group_blocks;    // that read the same data; all without groups
  int64_t height, width;   // of the output
  bool knows_rows;         // the height is no guess
  int64_t terms;           // of one output element
  int64_t input_channels;  // iterations of the outermost reduce loop
  int64_t window_rows, window_columns;
  std::optional<Borders> borders;
  // Each of a row's columns reads one of the data, its own.
  bool cuts_columns;
  int64_t element;  // bytes
  int64_t padded_bytes = 0;
  int64_t images;  // 1 where only a run knows
  int64_t nests;   // images, times groups
  int64_t work;    // of all tiles, in products
  bool parallel;
  // Threads share the output channels, or the groups, alone, so that the loop
  // over channels may have a tail.
  bool uneven;
};

// Cycles that the loops of a choice take; infinitely many where there are none.
double CyclesOf(const BlockedConv2d& p, const MachineModel& machine,
                const ScheduleChoice& choice);

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_CONV2D_NCHWC_COSTS_H_
