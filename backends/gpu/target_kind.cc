#include "backends/gpu/target_kind.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/device/kernels.h"
#include "backends/device/table.h"
#include "base/status_macros.h"
#include "compiler/codegen/device_kernels.h"
#include "compiler/machine/machine_model.h"
#include "compiler/schedules/gpu/layouts.h"
#include "compiler/schedules/gpu/templates.h"
#include "compiler/target/matmul_precision.h"
#include "compiler/tir/printer.h"

namespace ingot::gpu {
namespace {

constexpr char kCpuOption[] = "mcpu";

// Work items that start together where nothing asks for another number: enough
// to fill a GPU's cores from several groups each, and to share its registers.
constexpr int64_t kGroup = 256;

// Kernels of PTX before version 8.1 take so much, and LLVM writes an earlier
// one for all of these GPUs.
constexpr size_t kArgumentBytes = 4096;

absl::StatusOr<codegen::Machine> MachineOf(const GpuTarget& gpu,
                                           const Target& target) {
  const std::string cpu = target.Option(kCpuOption, gpu.cpu);
  absl::StatusOr<codegen::Machine> machine =
      codegen::DeviceMachine(gpu.triple, cpu);
  if (machine.ok()) return machine;
  return absl::InvalidArgumentError(absl::StrCat("target option -", kCpuOption,
                                                 "=", cpu, ": ",
                                                 machine.status().message()));
}

int64_t AheadBytes(const GpuTarget& gpu, const Target& target) {
  if (gpu.ahead_bytes == nullptr) return 0;
  return gpu.ahead_bytes(target.Option(kCpuOption, gpu.cpu));
}

absl::StatusOr<CodegenResult> Generate(
    const GpuTarget& gpu, const Target& target,
    absl::Span<const tir::PrimFunc> functions) {
  INGOT_ASSIGN_OR_RETURN(const codegen::Machine machine,
                         MachineOf(gpu, target));
  const int64_t ahead = AheadBytes(gpu, target);
  std::vector<codegen::DeviceFunction> split;
  std::vector<device::TableFunction> table;
  std::string loops =
      "# The loops that the kernels beside this file were made from.\n";
  for (const tir::PrimFunc& function : functions) {
    INGOT_ASSIGN_OR_RETURN(
        std::vector<codegen::DeviceKernel> kernels,
        codegen::KernelsOf(function, kGroup,
                           std::max(ahead, codegen::kMaxSharedBytes)));
    if (ahead > 0) {
      for (codegen::DeviceKernel& kernel : kernels) {
        codegen::CopyAhead(
            ahead, codegen::IsHopper(machine) ? &function : nullptr, &kernel);
      }
    }
    table.push_back(device::EntryOf(function, kernels));
    split.push_back({&function, std::move(kernels)});
    absl::StrAppend(&loops, "\n", tir::Print(function));
  }
  INGOT_ASSIGN_OR_RETURN(std::string code, gpu.compile(split, machine));
  CodegenResult result;
  device::AddArtifact(target, kLoopsFile, std::move(loops), &result);
  device::AddArtifact(target, gpu.code_file, std::move(code), &result);
  device::AddArtifact(target, device::kTableFile, device::WriteTable(table),
                      &result);
  return result;
}

}  // namespace

TargetKind MakeGpuTargetKind(const GpuTarget& gpu) {
  TargetKind kind;
  kind.name = gpu.name;
  kind.doc = gpu.doc;
  kind.options[kCpuOption] = {gpu.cpu_doc, gpu.cpu};
  kind.loaders = {gpu.name};
  kind.device = gpu.name;
  kind.tir_passes = {"vectorize_loops", "unroll_loops", "simplify"};
  if (gpu.has_tf32) {
    kind.options[kMatmulPrecisionOption] = {
        "how products and convolutions of f32 may be computed: highest (in "
        "f32), high or medium (of operands that are rounded to TF32, from "
        "sm_80 on)",
        "highest"};
  }
  kind.check = [gpu](const Target& target) -> absl::Status {
    INGOT_RETURN_IF_ERROR(ReadMatmulPrecision(target).status());
    return MachineOf(gpu, target).status();
  };
  kind.supports = [](const Target&, const relay::Node& node) {
    return device::TakesLoops(
        node, {/*narrow_floats=*/true, kArgumentBytes, codegen::DeviceLacks});
  };
  kind.machine = [gpu](const Target& target) -> absl::StatusOr<MachineModel> {
    MachineModel machine;
    machine.group_cores = gpu.group_cores(target.Option(kCpuOption, gpu.cpu));
    machine.shared_bytes = codegen::kMaxSharedBytes;
    machine.ahead_bytes = AheadBytes(gpu, target);
    INGOT_ASSIGN_OR_RETURN(const codegen::Machine processor,
                           MachineOf(gpu, target));
    if (codegen::IsAmpereOrNewer(processor)) {
      machine.units.insert(MachineUnit::kWarpTiles);
      if (codegen::IsHopper(processor)) {
        machine.units.insert(MachineUnit::kWarpGroupTiles);
      }
      INGOT_ASSIGN_OR_RETURN(const MatmulPrecision precision,
                             ReadMatmulPrecision(target));
      if (precision != MatmulPrecision::kHighest) {
        machine.units.insert(MachineUnit::kTf32WarpTiles);
      }
    }
    return machine;
  };
  kind.templates = te::gpu::GpuTemplates();
  kind.layouts = te::gpu::GpuLayouts;
  kind.tir_to_runtime =
      [gpu](const Target& target, absl::Span<const tir::PrimFunc> functions,
            const CodegenOptions&) { return Generate(gpu, target, functions); };
  return kind;
}

}  // namespace ingot::gpu
