// What concerns the device that a value is on.
#include "compiler/relay/ops/common.h"

namespace ingot::relay::ops {
namespace {

OpDef DeviceCopy() {
  OpDef def;
  def.name = "device_copy";
  def.doc = "x in the memory of another device";
  def.step = ExecutorStep::kCopy;
  def.attrs = {StringAttr("to",
                          "the target key that the device serves; empty: the "
                          "CPU",
                          "")};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    if (c.type(0).is_sequence) return Invalid("a sequence stays on the CPU");
    return Types{c.type(0)};
  };
  return def;
}

}  // namespace

absl::Status RegisterDevice(OpRegistry* registry) {
  return RegisterAllOf(registry, {DeviceCopy()});
}

}  // namespace ingot::relay::ops
