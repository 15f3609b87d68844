#include "backends/rocm/codegen.h"

#include <memory>
#include <string>
#include <utility>

#include "backends/gpu/target_kind.h"
#include "backends/rocm/name.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "loaders/native/files.h"
#include "loaders/native/lld.h"

namespace ingot {
namespace {

// AMD's driver loads shared libraries for its GPUs, not objects.
absl::StatusOr<std::string> Link(const std::string& object) {
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<ScratchFolder> scratch,
                         ScratchFolder::Make());
  const std::string input = scratch->path() + "/kernels.o";
  const std::string output = scratch->path() + "/" + rocm::kCodeFile;
  INGOT_RETURN_IF_ERROR(WriteScratchFile(input, object));
  INGOT_RETURN_IF_ERROR(
      Annotate(RunLld({kElfLld, "-shared", "--no-undefined", "--build-id=none",
                       "--threads=1", "-o", output, input},
                      scratch->path()),
               rocm::kCodeFile));
  INGOT_ASSIGN_OR_RETURN(const Blob linked, Blob::MapFile(output));
  return std::string(linked.view());
}

absl::StatusOr<std::string> Compile(
    absl::Span<const codegen::DeviceFunction> functions,
    const codegen::Machine& machine) {
  INGOT_ASSIGN_OR_RETURN(const std::string object,
                         codegen::CompileForDevice(
                             functions, machine, codegen::LlvmOutput::kObject));
  return Link(object);
}

// The compute units of one die, by the vendor's data sheets.
int CoresOf(absl::string_view cpu) {
  if (cpu == "gfx90a") return 104;  // MI250
  if (cpu == "gfx942") return 304;  // MI300X
  return 100;
}

}  // namespace

absl::Status RegisterRocmTarget(TargetRegistry* registry) {
  gpu::GpuTarget target;
  target.name = rocm::kName;
  target.doc = "code objects for AMD's GPUs, through their driver";
  target.triple = codegen::kAmdTriple;
  target.cpu = "gfx90a";
  target.cpu_doc = "the GPU that runs it: gfx90a, gfx942, ...";
  target.code_file = rocm::kCodeFile;
  target.group_cores = CoresOf;
  target.compile = Compile;
  return registry->Register(gpu::MakeGpuTargetKind(target));
}

}  // namespace ingot
