// Code that a device's driver has loaded, and a module of the functions that a
// table says it has.
#ifndef INGOT_BACKENDS_DEVICE_CODE_H_
#define INGOT_BACKENDS_DEVICE_CODE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/artifact.h"
#include "backends/device/table.h"
#include "loaders/loader_registry.h"
#include "runtime/module.h"

namespace ingot::device {

// Loaded code: thread-safe; its handles live as long as it does.
class Code {
 public:
  virtual ~Code() = default;

  // The driver's handle of a kernel. InvalidArgument where the code has none of
  // that name.
  virtual absl::StatusOr<void*> FindKernel(const std::string& name) = 0;

  // Queues a kernel. Arguments are addresses on the device, and stay valid
  // until work that is queued later has begun.
  virtual absl::Status Run(void* kernel, const Launch& launch,
                           absl::Span<void* const> arguments) = 0;
};

// Hands the bytes of an artifact to the driver of a device, which may be of
// another kind. InvalidArgument for what it does not compile or load.
using OpenCodeFn = std::function<absl::StatusOr<std::shared_ptr<Code>>(
    const OpenDevice& on, absl::string_view bytes)>;

// A module of kind `loader` from the artifacts of a key: the file `code_file`
// and the function table. Its functions check that arguments are dense tensors
// on the key's device, of the table's types and shapes, and queue their
// kernels. Errors name the artifact, the function or the kernel.
absl::StatusOr<std::shared_ptr<Module>> LoadCode(
    absl::string_view loader, absl::string_view code_file,
    const OpenCodeFn& open, absl::Span<const Artifact> group,
    LoadContext& context);

}  // namespace ingot::device

#endif  // INGOT_BACKENDS_DEVICE_CODE_H_
