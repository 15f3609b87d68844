// Kernels of GPUs, by way of LLVM.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_DEVICE_H_
#define INGOT_COMPILER_CODEGEN_LLVM_DEVICE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/codegen/device_kernels.h"
#include "compiler/codegen/llvm/compile.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// The triples of the two families.
inline constexpr char kNvidiaTriple[] = "nvptx64-nvidia-cuda";
inline constexpr char kAmdTriple[] = "amdgcn-amd-amdhsa";

// A GPU of one of them, by LLVM's name for it: "sm_80", "gfx90a".
// InvalidArgument for a name that LLVM does not know.
absl::StatusOr<Machine> DeviceMachine(absl::string_view triple,
                                      absl::string_view cpu);

// Whether it is one of them.
bool IsGpu(const Machine& machine);

// Whether it is a GPU of NVIDIA's from sm_80 on: one that copies into shared
// memory while the code goes on, and whose warps multiply tiles.
bool IsAmpereOrNewer(const Machine& machine);

// Whether it is Hopper with what only that has: units that four warps share.
bool IsHopper(const Machine& machine);

// Whether there is no code for a function where there is no C library.
bool DeviceLacks(const tir::Call& call);

// A function and what it was split into.
struct DeviceFunction {
  const tir::PrimFunc* function;
  std::vector<DeviceKernel> kernels;
};

// Compiles all kernels into one module: PTX for NVIDIA's GPUs as kAssembly, for
// AMD's a relocatable object, or its text. A kernel's parameters are the
// addresses of its function's; it has the group that it was split for.
// InvalidArgument names the kernel and what cannot be compiled in it; Internal
// is a bug of ours, with LLVM's words.
absl::StatusOr<std::string> CompileForDevice(
    absl::Span<const DeviceFunction> functions, const Machine& machine,
    LlvmOutput output, int opt_level = 3);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_DEVICE_H_
