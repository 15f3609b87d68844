// The loader `callback`: live objects to functions.
#ifndef INGOT_BACKENDS_CALLBACK_LOADER_H_
#define INGOT_BACKENDS_CALLBACK_LOADER_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

// Registers the loader, which makes a function of each artifact's live object
// (live_function.h). An artifact without one, which can only come from a file,
// is FailedPrecondition. Errors: AlreadyExists.
absl::Status RegisterCallbackLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_CALLBACK_LOADER_H_
