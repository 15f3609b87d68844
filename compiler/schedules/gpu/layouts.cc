#include "compiler/schedules/gpu/layouts.h"

#include <cstdint>

#include "compiler/relay/ir.h"

namespace ingot::te::gpu {
namespace {

// Bytes that a thread copies at once.
constexpr int64_t kBytesAtOnce = 16;

bool IsByUnits(const MachineModel& machine, DataType type) {
  if (!type.is_float() || !machine.Has(MachineUnit::kWarpTiles)) return false;
  return type.bits == 16 || (type == DataType::Float(32) &&
                             machine.Has(MachineUnit::kTf32WarpTiles));
}

// The channels that are copied at once; 0: the convolution stays as it is.
int64_t ChannelsAtOnce(const MachineModel& machine,
                       const relay::Node& convolution) {
  const relay::TensorType& data = convolution.inputs[0].type();
  const bool is_known =
      relay::ConstShape(convolution.outputs[0].shape).has_value();
  return is_known && IsByUnits(machine, data.dtype)
             ? kBytesAtOnce / data.dtype.bytes()
             : 0;
}

}  // namespace

LayoutPreferences GpuLayouts(const MachineModel& machine) {
  LayoutPreferences layouts;
  layouts.one_block = true;
  layouts.channel_block = [machine](const relay::Node& convolution) {
    return ChannelsAtOnce(machine, convolution);
  };
  return layouts;
}

}  // namespace ingot::te::gpu
