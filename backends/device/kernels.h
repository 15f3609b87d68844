// The code generators' half of a device's function table.
#ifndef INGOT_BACKENDS_DEVICE_KERNELS_H_
#define INGOT_BACKENDS_DEVICE_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/device/table.h"
#include "compiler/codegen/device_kernels.h"
#include "compiler/relay/ir.h"
#include "compiler/target/target.h"
#include "compiler/tir/ir.h"

namespace ingot::device {

// Says what a code generator can do.
struct LoopCode {
  bool narrow_floats = false;  // of 16 bits
  // A kernel has no more than so many bytes of arguments, which are addresses;
  // 0: it has any number.
  size_t argument_bytes = 0;
  // Whether there is none for a function; null: there is for all.
  bool (*lacks)(const tir::Call& call) = nullptr;
};

// Whether a device runs the operator as loops: static shapes, elements of f32,
// integers and bools, a definition that is no chain of loops, no more operands
// than a kernel takes, and nothing that there is no code for. Says why not.
absl::Status TakesLoops(const relay::Node& node, const LoopCode& code);

// The entry of a function, whose parameters have constant shapes, that runs as
// these kernels.
TableFunction EntryOf(const tir::PrimFunc& function,
                      absl::Span<const codegen::DeviceKernel> kernels);

// Adds an artifact that the target's own loader, which has its kind's name,
// loads.
void AddArtifact(const Target& target, absl::string_view file,
                 std::string content, CodegenResult* result);

}  // namespace ingot::device

#endif  // INGOT_BACKENDS_DEVICE_KERNELS_H_
