#include "backends/opencl/codegen.h"

#include <utility>
#include <vector>

#include "backends/device/kernels.h"
#include "backends/device/table.h"
#include "backends/opencl/name.h"
#include "backends/opencl/opencl_writer.h"
#include "base/status_macros.h"
#include "compiler/codegen/device_kernels.h"
#include "compiler/machine/machine_model.h"
#include "compiler/schedules/gpu/templates.h"

namespace ingot {
namespace {

// Groups that run at once: about as many as GPUs of the last years have compute
// units. Where there are fewer, as on a CPU, larger tiles would do as well.
constexpr int kGroupCores = 100;
// OpenCL has every device offer so much.
constexpr int64_t kSharedBytes = 32 << 10;
// And it has every kernel take so many bytes of arguments.
constexpr size_t kArgumentBytes = 1024;

absl::StatusOr<MachineModel> MachineOf(const Target&) {
  MachineModel machine;
  machine.group_cores = kGroupCores;
  machine.shared_bytes = kSharedBytes;
  return machine;
}

absl::Status Supports(const Target&, const relay::Node& node) {
  return device::TakesLoops(
      node, {/*narrow_floats=*/false, kArgumentBytes, /*lacks=*/nullptr});
}

absl::StatusOr<CodegenResult> Generate(
    const Target& target, absl::Span<const tir::PrimFunc> functions,
    const CodegenOptions&) {
  opencl::OpenClWriter writer;
  std::vector<device::TableFunction> table;
  for (const tir::PrimFunc& function : functions) {
    INGOT_ASSIGN_OR_RETURN(std::vector<codegen::DeviceKernel> kernels,
                           codegen::KernelsOf(function));
    INGOT_RETURN_IF_ERROR(writer.Add(function, kernels));
    table.push_back(device::EntryOf(function, kernels));
  }
  CodegenResult result;
  device::AddArtifact(target, opencl::kSourceFile, writer.Source(), &result);
  device::AddArtifact(target, device::kTableFile, device::WriteTable(table),
                      &result);
  return result;
}

}  // namespace

absl::Status RegisterOpenclTarget(TargetRegistry* registry) {
  TargetKind kind;
  kind.name = opencl::kName;
  kind.doc = "OpenCL C for a device of its own, through the system's driver";
  kind.loaders = {opencl::kName};
  kind.device = opencl::kName;
  kind.tir_passes = {"unroll_loops", "simplify"};
  kind.supports = Supports;
  kind.machine = MachineOf;
  kind.templates = te::gpu::GpuTemplates();
  kind.tir_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot
