// The target kind `examplejson`: regions as text that an interpreter runs, the
// example of a code generator with a form of its own. README.md describes it.
#ifndef INGOT_BACKENDS_EXAMPLEJSON_CODEGEN_H_
#define INGOT_BACKENDS_EXAMPLEJSON_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

// Errors: AlreadyExists.
absl::Status RegisterExamplejsonTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_EXAMPLEJSON_CODEGEN_H_
