// From a module of LLVM to code. Private to this folder.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_COMPILE_MODULE_H_
#define INGOT_COMPILER_CODEGEN_LLVM_COMPILE_MODULE_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/codegen/llvm/compile.h"
#include "compiler/codegen/llvm/machine.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace ingot::codegen {

// An attribute of functions whose loads, comparisons and calls are emitted as
// they should stay: LLVM's passes over its IR, of which each takes a while for
// the smallest function, leave them alone.
inline constexpr char kStaysAsEmitted[] = "ingot-stays-as-emitted";

// Makes an empty module for the machine, lets `fill` put functions into it,
// checks and optimises it (level 0 to 3) and returns it in the form that was
// asked for. Fails as `fill` does; Internal is a bug of ours, with LLVM's
// words.
absl::StatusOr<std::string> CompileModule(
    const std::string& name, const Machine& machine, int opt_level,
    LlvmOutput output, absl::FunctionRef<absl::Status(llvm::Module*)> fill);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_COMPILE_MODULE_H_
