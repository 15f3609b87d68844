// The loader `examplejson`: graphs in text form, run element by element.
#ifndef INGOT_BACKENDS_EXAMPLEJSON_LOADER_H_
#define INGOT_BACKENDS_EXAMPLEJSON_LOADER_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

// A function for each artifact, a text as README.md describes it; a text that
// stands alone also gets a plan that calls it. Texts may be hostile:
// InvalidArgument names the artifact and the line.
// Errors: AlreadyExists.
absl::Status RegisterExamplejsonLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_EXAMPLEJSON_LOADER_H_
