#include "backends/cuda/codegen.h"

#include <string>
#include <utility>

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
  target.compile = Compile;
  return registry->Register(gpu::MakeGpuTargetKind(target));
}

}  // namespace ingot
