// The loader `llvmjit`: LLVM bitcode to a module of functions, in this process.
#ifndef INGOT_BACKENDS_LLVMJIT_LOADER_H_
#define INGOT_BACKENDS_LLVMJIT_LOADER_H_

#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "artifact/artifact.h"
#include "loaders/loader_registry.h"
#include "runtime/host_cpu.h"
#include "runtime/module.h"

namespace ingot {

// Compiles every artifact of `group`, each one bitcode file, and makes a module
// whose functions are their exported ones. The module owns the machine code.
// Bitcode is code: it is as trusted as a shared library is, but a damaged file
// gives an error. The machine code uses the CPU features that the bitcode was
// made for as far as they are `available` (LLVM's names); it needs none of
// them. InvalidArgument: not bitcode, or for another family of processors, or
// two files define one function. FailedPrecondition: symbols that this process
// does not have.
absl::StatusOr<std::shared_ptr<Module>> LoadLlvmJit(
    absl::Span<const Artifact> group,
    const std::set<std::string>& available = HostCpuFeatures());

// The same, as the load stage calls it.
absl::StatusOr<std::shared_ptr<Module>> LoadBinaryLlvmjit(
    absl::Span<const Artifact> group, LoadContext& context);

// Errors: AlreadyExists.
absl::Status RegisterLlvmjitLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_LLVMJIT_LOADER_H_
