// Kernels to functions in one call, for tests and benchmarks.
#ifndef INGOT_BACKENDS_LLVMJIT_COMPILE_AND_LOAD_H_
#define INGOT_BACKENDS_LLVMJIT_COMPILE_AND_LOAD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/tir/ir.h"
#include "runtime/module.h"

namespace ingot {

// Runs `llvmjit`'s codegen and then its loader: the module has a function per
// kernel, by its name. `options` is a target without the kind,
// such as "-mcpu=native -O=3". Errors: those of parsing, codegen and loader.
absl::StatusOr<std::shared_ptr<Module>> CompileAndLoad(
    absl::Span<const tir::PrimFunc> kernels, absl::string_view options = "");

}  // namespace ingot

#endif  // INGOT_BACKENDS_LLVMJIT_COMPILE_AND_LOAD_H_
