// Reads the text form that printer.h writes.
//
// Beyond what the printer writes, the type of an operator's results may be left
// out, and a constant may be made on the spot, which tests like:
//   %w = const f32[64, 64] random(7)     // in [-1, 1), the same for one seed
//   %z = const f32[64] fill(0.5)
// Comments run from // to the end of the line.
#ifndef INGOT_COMPILER_RELAY_PARSER_H_
#define INGOT_COMPILER_RELAY_PARSER_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "runtime/tensor.h"

namespace ingot::relay {

// Parses a module whose large constants are in `constants` by key. `text` may
// come from anywhere: InvalidArgument starts with line:column and says what is
// wrong there. The result has its types checked, node by node; verifier.h
// checks the rest (calls between functions).
absl::StatusOr<std::unique_ptr<Module>> ReadModule(
    absl::string_view text,
    const std::map<std::string, Tensor>& constants = {});

// The constants of all modules in a folder that have no file of their own.
inline constexpr char kSharedWeights[] = "all.relay.weights";

// The large constants of the module at `path`: `path` + ".weights" or, without
// that file, kSharedWeights in the same folder; none without
// either.
absl::StatusOr<std::map<std::string, Tensor>> ReadConstantsOf(
    absl::string_view path);

// Reads `path` and its constants. Errors name the file.
absl::StatusOr<std::unique_ptr<Module>> ReadModuleFile(absl::string_view path);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PARSER_H_
