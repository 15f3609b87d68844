// The results that a model should have, by the interpreter that defines the
// meaning of every operator.

#ifndef INGOT_TOOLS_INGOT_REFERENCE_H_
#define INGOT_TOOLS_INGOT_REFERENCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontends/frontend.h"
#include "tools/ingot/compiler.h"
#include "tools/ingot/inputs.h"

namespace ingot {

// The model in the file at `path`, with these shapes of inputs. Errors are
// those of ReadModelFile (compiler/frontends/read_model.h).
absl::StatusOr<std::unique_ptr<InterpretedModel>> ReadReference(
    absl::string_view path, const FrontendRegistry& frontends,
    const InputShapes& shapes);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_REFERENCE_H_
