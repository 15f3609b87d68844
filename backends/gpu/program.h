// Code that a GPU's driver has loaded.
#ifndef INGOT_BACKENDS_GPU_PROGRAM_H_
#define INGOT_BACKENDS_GPU_PROGRAM_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/device/code.h"
#include "backends/gpu/device.h"
#include "loaders/loader_registry.h"

namespace ingot::gpu {

class Program final : public device::Code {
 public:
  // FailedPrecondition for a device that is none of the family.
  static absl::StatusOr<std::shared_ptr<device::Code>> Open(
      const Family& family, const OpenDevice& on, absl::string_view image);
  ~Program() override;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  absl::StatusOr<void*> FindKernel(const std::string& name) override;
  absl::Status Run(void* kernel, const device::Launch& launch,
                   absl::Span<void* const> arguments) override;

 private:
  Program(std::shared_ptr<GpuDevice> device, CodeHandle code)
      : device_(std::move(device)), code_(code) {}

  const std::shared_ptr<GpuDevice> device_;
  const CodeHandle code_;
};

// Registers the device `kind`, the first of the family, and the loader of that
// name, which takes the file `code_file` of a key. What it loads is code, which
// runs on the device.
absl::Status RegisterGpuLoader(absl::string_view kind, const Family& family,
                               absl::string_view code_file,
                               LoaderRegistry* registry);

}  // namespace ingot::gpu

#endif  // INGOT_BACKENDS_GPU_PROGRAM_H_
