#include "compiler/schedules/gpu/layouts.h"

#include <cstdint>

#include "compiler/relay/ir.h"
#include "compiler/schedules/gpu/items.h"

namespace ingot::te::gpu {
namespace {

// The channels that are copied at once; 0: the convolution stays as it is.
int64_t ChannelsAtOnce(const MachineModel& machine,
                       const relay::Node& convolution) {
  const relay::TensorType& data = convolution.inputs[0].type();
  const bool is_known =
      relay::ConstShape(convolution.outputs[0].shape).has_value();
  return is_known && UnitsMultiply(machine, data.dtype)
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
