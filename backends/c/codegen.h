// The target kind `c`: kernels become one readable C99 file.
#ifndef INGOT_BACKENDS_C_CODEGEN_H_
#define INGOT_BACKENDS_C_CODEGEN_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/target/target.h"
#include "compiler/tir/ir.h"

namespace ingot {

// Errors: AlreadyExists.
absl::Status RegisterCTarget(TargetRegistry* registry);

// The text of the file. Its first line says how it wants to be compiled.
// InvalidArgument names the kernel and what C cannot say of it.
absl::StatusOr<std::string> GenerateC(const Target& target,
                                      absl::Span<const tir::PrimFunc> kernels,
                                      const CodegenOptions& options);

}  // namespace ingot

#endif  // INGOT_BACKENDS_C_CODEGEN_H_
