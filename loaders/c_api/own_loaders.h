// Loaders that the caller of the C API brings.
#ifndef INGOT_LOADERS_C_API_OWN_LOADERS_H_
#define INGOT_LOADERS_C_API_OWN_LOADERS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "loaders/c_api/ingot.h"
#include "loaders/loader_registry.h"

namespace ingot::c_api {

// Registers the caller's loaders, which must outlive the registry.
// InvalidArgument for one without a name or a function, AlreadyExists for a
// name that is taken.
absl::Status RegisterOwnLoaders(absl::Span<const IngotLoader> own,
                                LoaderRegistry* registry);

}  // namespace ingot::c_api

#endif  // INGOT_LOADERS_C_API_OWN_LOADERS_H_
