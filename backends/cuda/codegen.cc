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

// GPUs of a compute capability.
struct Capability {
  absl::string_view cpu;  // begins with
  // The multiprocessors of the largest GPU in use, by the vendor's data sheets.
  int cores;
  // The KiB that the groups of a multiprocessor share (CUDA's programming
  // guide, "Technical Specifications per Compute Capability"); 0: none copies
  // ahead.
  int64_t shared_kib;
};
constexpr Capability kCapabilities[] = {
    {"sm_7", 80, 0},      // V100
    {"sm_80", 108, 164},  // A100
    {"sm_86", 84, 100},   // A40
    {"sm_87", 16, 164},   // Orin
    {"sm_89", 142, 100},  // L40
    {"sm_90", 132, 228},  // H100, H200
};

Capability CapabilityOf(absl::string_view cpu) {
  for (const Capability& c : kCapabilities) {
    if (absl::StartsWith(cpu, c.cpu)) return c;
  }
  return {"", 100, absl::StartsWith(cpu, "sm_1") ? 100 : 0};
}

int CoresOf(absl::string_view cpu) { return CapabilityOf(cpu).cores; }

// A multiprocessor takes 1 KiB for a group.
int64_t AheadBytes(absl::string_view cpu) {
  const int64_t kib = CapabilityOf(cpu).shared_kib;
  return kib == 0 ? 0 : (kib - 1) << 10;
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
  target.ahead_bytes = AheadBytes;
  target.has_tf32 = true;
  target.compile = Compile;
  return registry->Register(gpu::MakeGpuTargetKind(target));
}

}  // namespace ingot
