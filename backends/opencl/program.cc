#include "backends/opencl/program.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot::opencl {

absl::StatusOr<std::shared_ptr<device::Code>> Program::Open(
    const OpenDevice& on, absl::string_view source) {
  auto device = std::dynamic_pointer_cast<ClDevice>(on.api);
  if (device == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("kernels of OpenCL are to run on ", on.device.ToString()));
  }
  INGOT_ASSIGN_OR_RETURN(cl_program program, device->Build(source));
  return std::shared_ptr<device::Code>(new Program(std::move(device), program));
}

Program::~Program() {
  for (cl_kernel kernel : kernels_) device_->driver().ReleaseKernel(kernel);
  device_->driver().ReleaseProgram(program_);
}

absl::StatusOr<void*> Program::FindKernel(const std::string& name) {
  cl_int code = CL_SUCCESS;
  cl_kernel kernel =
      device_->driver().CreateKernel(program_, name.c_str(), &code);
  if (code != CL_SUCCESS) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no kernel '", name, "' (", code, ")"));
  }
  const absl::MutexLock lock(&mutex_);
  kernels_.push_back(kernel);
  return kernel;
}

absl::Status Program::Run(void* kernel, const device::Launch& launch,
                          absl::Span<void* const> arguments) {
  return device_->Launch(static_cast<cl_kernel>(kernel), arguments,
                         static_cast<size_t>(launch.work_items),
                         static_cast<size_t>(launch.group));
}

}  // namespace ingot::opencl
