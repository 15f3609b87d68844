// The target kinds of GPUs.
#ifndef INGOT_BACKENDS_GPU_TARGET_KIND_H_
#define INGOT_BACKENDS_GPU_TARGET_KIND_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/codegen/llvm/device.h"
#include "compiler/target/target.h"

namespace ingot::gpu {

// The artifact that says, for people, which loops the kernels are.
inline constexpr char kLoopsFile[] = "kernels.tir";

// A family of GPUs that LLVM generates code for.
struct GpuTarget {
  std::string name;  // of the kind, its codegen, its loader and its device
  std::string doc;   // one line
  std::string triple;
  std::string cpu;      // the default of -mcpu
  std::string cpu_doc;  // of the option, one line
  std::string code_file;
  // The GPU's multiprocessors: so many groups of threads run at once.
  int (*group_cores)(absl::string_view cpu) = nullptr;
  // The bytes of shared memory with which a group of threads copies ahead
  // (MachineModel::ahead_bytes); null: no GPU of the family does.
  int64_t (*ahead_bytes)(absl::string_view cpu) = nullptr;
  // Products of f32 may be of TF32 (ReadMatmulPrecision), where the GPU has
  // units for that.
  bool has_tf32 = false;
  // Makes what the driver loads.
  std::function<absl::StatusOr<std::string>(
      absl::Span<const codegen::DeviceFunction>, const codegen::Machine&)>
      compile;
};

// A kind with three artifacts: the loops, their code and its function table.
TargetKind MakeGpuTargetKind(const GpuTarget& target);

}  // namespace ingot::gpu

#endif  // INGOT_BACKENDS_GPU_TARGET_KIND_H_
