// Made by ingot_library() of tools/ingot_library.bzl.

#include "loaders/c_api/register_loaders.h"

#include "backends/light_loaders.h"
#include "loaders/load.h"
// {INCLUDES}

namespace ingot::c_api {

absl::Status RegisterLoaders(LoaderRegistry* registry) {
  absl::Status status = RegisterCoreLoaders(registry);
  status.Update(RegisterLightLoaders(registry));
  // {LOADER}
  return status;
}

}  // namespace ingot::c_api
