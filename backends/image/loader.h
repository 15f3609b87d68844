// The loader `image`: functions that read encoded images, from what the target
// `image` made. README.md describes both.
#ifndef INGOT_BACKENDS_IMAGE_LOADER_H_
#define INGOT_BACKENDS_IMAGE_LOADER_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

// Errors: AlreadyExists.
absl::Status RegisterImageLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_IMAGE_LOADER_H_
