#include "backends/llvmjit/compile_and_load.h"

#include "absl/strings/str_cat.h"
#include "backends/llvmjit/codegen.h"
#include "backends/llvmjit/loader.h"
#include "base/status_macros.h"
#include "compiler/target/target.h"

namespace ingot {

absl::StatusOr<std::shared_ptr<Module>> CompileAndLoad(
    absl::Span<const tir::PrimFunc> kernels, absl::string_view options) {
  TargetRegistry registry;
  INGOT_RETURN_IF_ERROR(RegisterLlvmjitTarget(&registry));
  INGOT_ASSIGN_OR_RETURN(Target target,
                         ParseTarget(absl::StrCat("llvmjit ", options)));
  INGOT_ASSIGN_OR_RETURN(const TargetKind* kind, registry.Check(target));
  INGOT_ASSIGN_OR_RETURN(
      CodegenResult result,
      kind->tir_to_runtime(target, kernels, CodegenOptions()));
  return LoadLlvmJit(result.artifacts);
}

}  // namespace ingot
