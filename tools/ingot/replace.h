// --replace: a person's own files in the place of what was compiled.
#ifndef INGOT_TOOLS_INGOT_REPLACE_H_
#define INGOT_TOOLS_INGOT_REPLACE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/artifact_set.h"
#include "tools/ingot/compiler.h"
#include "tools/ingot/flags.h"

namespace ingot {

// Defines the flag, whose values are "NAME=FILE".
void AddReplace(FlagSet* flags, std::vector<std::string>* replacements);

// Compiles LLVM IR in text form to an object for a triple (empty: this
// machine's). Errors are about the text.
using AssembleFn = std::function<absl::StatusOr<std::string>(
    absl::string_view text, const std::string& triple)>;

// By `compiler`, which outlives it; null where that is null.
AssembleFn AssembleWith(Compiler* compiler);

// The set with each NAME replaced by what is in FILE:
//
// - an artifact, by its path or its file's name: the bytes, of the same ending,
//   or LLVM IR for an object;
// - a kernel, by its symbol: C, LLVM IR or an object, which defines the
// function
//   as the set's code for it does. It becomes an artifact of its own, beside
//   the set's code, in which the kernel is weak from then on.
//
// The provenance names what was edited. Errors: UsageError for a text of
// another form; NotFound for a name that is neither an artifact nor a kernel of
// C or of an object; InvalidArgument for a file that does not fit;
// NeedsCompiler for LLVM IR where `assemble` is null.
absl::StatusOr<ArtifactSet> Replace(ArtifactSet set,
                                    absl::Span<const std::string> replacements,
                                    const AssembleFn& assemble);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_REPLACE_H_
