// From a model's file and the words of a call to a compiled set.

#ifndef INGOT_TOOLS_INGOT_COMPILE_MODEL_H_
#define INGOT_TOOLS_INGOT_COMPILE_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/driver/compile.h"
#include "compiler/frontends/frontend.h"
#include "compiler/target/target.h"
#include "loaders/native/linker.h"
#include "tools/ingot/compile_flags.h"
#include "tools/ingot/compiler.h"
#include "tools/ingot/compiler_command.h"
#include "tools/ingot/output.h"
#include "tools/ingot/sets.h"

namespace ingot {

// Everything that a program with a compiler was built with.
struct CompilerBuiltins {
  FrontendRegistry frontends;
  TargetRegistry targets;
  Builtins sets;
  // Operators of models that only some targets know.
  std::vector<CustomOperator> custom_operators;
  // Loaders that artifacts may name, though this program cannot load them.
  std::vector<std::string> loaders_elsewhere;
};

// Those of this program, and those of `programs` with backends of their own
// (CompileFlags::backends). Errors: AlreadyExists for two of one name; those of
// external::Connection::Open.
absl::StatusOr<CompilerBuiltins> MakeCompilerBuiltins(
    const CompilerBackends& backends, absl::Span<const std::string> programs);

// The value of --target, its kinds and options checked: one variant or more. A
// bad one is a UsageError.
absl::StatusOr<std::vector<TargetVariant>> ParseTargetFlag(
    absl::string_view text, const TargetRegistry& targets);

// The flags as options of the compiler, and the variants to compile; the
// options' targets are the first one's. A bad flag is a UsageError.
absl::StatusOr<CompileOptions> MakeCompileOptions(
    const CompileFlags& flags, const CompilerBuiltins& builtins,
    std::vector<TargetVariant>* variants);

// Compiles the model file at `path`. A bad flag is a UsageError. With
// time_passes, prints where the time went.
absl::StatusOr<CompiledModel> CompileModel(absl::string_view path,
                                           const CompileFlags& flags,
                                           const CompilerBuiltins& builtins,
                                           Progress* progress);

// The programs that the user names for linking every set: $INGOT_CC and
// $INGOT_LLD. Empty where there is none.
LinkOptions UsersLinkOptions();

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_COMPILE_MODEL_H_
