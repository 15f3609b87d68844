#include "compiler/schedules/cpu/layouts.h"

#include <algorithm>

#include "compiler/schedules/cpu/register_tile.h"

namespace ingot::te::cpu {

int64_t ChannelBlock(const MachineModel& machine, DataType t) {
  return std::max(machine.lanes(t.bits), 4);
}

int64_t PanelWidth(const MachineModel& machine, DataType t, int64_t n) {
  const int64_t lanes = std::max(machine.lanes(t.bits), 1);
  const int64_t vectors = (n + lanes - 1) / lanes;
  return std::clamp<int64_t>(vectors, 1, ProductTile(machine).vectors) * lanes;
}

LayoutPreferences CpuLayouts(const MachineModel& machine) {
  LayoutPreferences layouts;
  layouts.channel_block = [machine](const relay::Node& convolution) {
    return ChannelBlock(machine, convolution.outputs[0].dtype);
  };
  layouts.panel_width = [machine](const relay::Node& product, int64_t columns) {
    return PanelWidth(machine, product.outputs[0].dtype, columns);
  };
  layouts.byte_words = machine.Has(MachineUnit::kInt8Dot);
  return layouts;
}

}  // namespace ingot::te::cpu
