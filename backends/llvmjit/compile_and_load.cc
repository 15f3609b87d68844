#include "backends/llvmjit/compile_and_load.h"

#include "absl/strings/str_cat.h"
#include "backends/llvmjit/codegen.h"
#include "backends/llvmjit/loader.h"
#include "compiler/target/target.h"

namespace ingot {

absl::StatusOr<std::shared_ptr<Module>> CompileAndLoad(
    absl::Span<const tir::PrimFunc> kernels, absl::string_view options) {
  TargetRegistry registry;
  absl::Status registered = RegisterLlvmjitTarget(&registry);
  if (!registered.ok()) return registered;
  absl::StatusOr<Target> target =
      ParseTarget(absl::StrCat("llvmjit ", options));
  if (!target.ok()) return target.status();
  absl::StatusOr<const TargetKind*> kind = registry.Check(*target);
  if (!kind.ok()) return kind.status();
  absl::StatusOr<CodegenResult> result =
      (*kind)->tir_to_runtime(*target, kernels, CodegenOptions());
  if (!result.ok()) return result.status();
  return LoadLlvmJit(result->artifacts);
}

}  // namespace ingot
