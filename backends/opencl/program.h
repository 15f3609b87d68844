// A compiled file of kernels. Private to this folder.
#ifndef INGOT_BACKENDS_OPENCL_PROGRAM_H_
#define INGOT_BACKENDS_OPENCL_PROGRAM_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "backends/device/code.h"
#include "backends/opencl/device.h"

namespace ingot::opencl {

class Program final : public device::Code {
 public:
  // Compiles `source` for the device. FailedPrecondition for a device of
  // another kind.
  static absl::StatusOr<std::shared_ptr<device::Code>> Open(
      const OpenDevice& on, absl::string_view source);
  ~Program() override;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  absl::StatusOr<void*> FindKernel(const std::string& name) override;
  absl::Status Run(void* kernel, const device::Launch& launch,
                   absl::Span<void* const> arguments) override;

 private:
  Program(std::shared_ptr<ClDevice> device, cl_program program)
      : device_(std::move(device)), program_(program) {}

  const std::shared_ptr<ClDevice> device_;
  const cl_program program_;
  absl::Mutex mutex_;
  std::vector<cl_kernel> kernels_;  // that were found
};

}  // namespace ingot::opencl

#endif  // INGOT_BACKENDS_OPENCL_PROGRAM_H_
