// Loaders of code for devices that run kernels.
#ifndef INGOT_BACKENDS_DEVICE_CODE_LOADER_H_
#define INGOT_BACKENDS_DEVICE_CODE_LOADER_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "loaders/loader_registry.h"
#include "runtime/device.h"

namespace ingot::device {

// Registers the device `kind`, which `open` opens and which is a KernelDevice,
// and the loader of that name, which makes a module of the artifacts of a key:
// the file `code_file`, the function table, and what drivers built of the file
// (built_code.h), if that is there or in LoadContext::builds; the driver builds
// it otherwise. The code runs on the device (LoaderInput::kCode). The module's
// functions check that arguments are dense tensors on the key's device, of the
// table's types and shapes, and queue their kernels.
//
// Loading fails with FailedPrecondition for a device that takes no code of
// `family`; errors name the artifact, the function or the kernel.
absl::Status RegisterCodeLoader(
    absl::string_view kind, absl::string_view family,
    absl::string_view code_file,
    const std::function<absl::StatusOr<OpenDevice>()>& open,
    LoaderRegistry* registry);

}  // namespace ingot::device

#endif  // INGOT_BACKENDS_DEVICE_CODE_LOADER_H_
