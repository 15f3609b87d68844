// The loader `examplejson`: graphs in text form, run node by node.
#ifndef INGOT_BACKENDS_EXAMPLEJSON_LOADER_H_
#define INGOT_BACKENDS_EXAMPLEJSON_LOADER_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

// A function for each artifact, a text as README.md describes it; a text that
// stands alone also gets a plan that calls it. Texts may be hostile:
// InvalidArgument names the artifact and the line.
absl::StatusOr<std::shared_ptr<Module>> loadbinary_examplejson(
    absl::Span<const Artifact> group, LoadContext& context);

// Errors: AlreadyExists.
absl::Status RegisterExamplejsonLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_EXAMPLEJSON_LOADER_H_
