#include "backends/cuda/codegen.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "backends/cuda/annotate_ptx.h"
#include "backends/cuda/name.h"
#include "backends/gpu/target_kind.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

absl::StatusOr<std::string> Compile(
    absl::Span<const codegen::DeviceFunction> functions,
    const codegen::Machine& machine) {
  INGOT_ASSIGN_OR_RETURN(
      std::string ptx, codegen::CompileForDevice(
                           functions, machine, codegen::LlvmOutput::kAssembly));
  return cuda::AnnotatePtx(functions, ptx);
}

// The multiprocessors of the largest GPU in use of a compute capability, by the
// vendor's data sheets.
int CoresOf(absl::string_view cpu) {
  if (absl::StartsWith(cpu, "sm_7")) return 80;    // V100
  if (absl::StartsWith(cpu, "sm_80")) return 108;  // A100
  if (absl::StartsWith(cpu, "sm_86")) return 84;   // A40
  if (absl::StartsWith(cpu, "sm_90")) return 132;  // H100, H200
  return 100;
}

}  // namespace

absl::Status RegisterCudaTarget(TargetRegistry* registry) {
  gpu::GpuTarget target;
  target.name = cuda::kName;
  target.doc = "PTX for NVIDIA's GPUs, through their driver";
  target.triple = codegen::kNvidiaTriple;
  target.cpu = "sm_70";
  target.cpu_doc =
      "the oldest GPU that may run it, by compute capability: sm_70, sm_80, "
      "sm_90a, ...";
  target.code_file = cuda::kPtxFile;
  target.group_cores = CoresOf;
  target.compile = Compile;
  return registry->Register(gpu::MakeGpuTargetKind(target));
}

}  // namespace ingot
