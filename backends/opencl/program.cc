#include "backends/opencl/program.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/plan/call_spec.h"

namespace ingot::opencl {

absl::StatusOr<std::shared_ptr<Program>> Program::Create(
    OpenDevice on, absl::string_view source) {
  auto device = std::dynamic_pointer_cast<ClDevice>(on.api);
  if (device == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("kernels of OpenCL are to run on ", on.device.ToString()));
  }
  INGOT_ASSIGN_OR_RETURN(cl_program built, device->Build(source));
  std::shared_ptr<Program> program(
      new Program(std::move(on), std::move(device)));
  program->program_ = built;
  return program;
}

Program::~Program() {
  for (cl_kernel kernel : kernels_) device_->driver().ReleaseKernel(kernel);
  if (program_ != nullptr) device_->driver().ReleaseProgram(program_);
}

absl::StatusOr<Function> Program::Find(const TableFunction& entry) {
  std::vector<cl_kernel> kernels;
  for (const Launch& launch : entry.launches) {
    cl_int code = CL_SUCCESS;
    cl_kernel kernel =
        device_->driver().CreateKernel(program_, launch.kernel.c_str(), &code);
    if (code != CL_SUCCESS) {
      return absl::InvalidArgumentError(absl::StrCat(
          "there is no kernel '", launch.kernel, "' (", code, ")"));
    }
    kernels_.push_back(kernel);
    kernels.push_back(kernel);
  }
  return Function::FromLambda(
      [self = shared_from_this(), entry, kernels = std::move(kernels)](
          absl::Span<const TVMFFIAny> args, TVMFFIAny*) -> absl::Status {
        INGOT_ASSIGN_OR_RETURN(
            const std::vector<void*> arguments,
            CheckCall(entry.name, entry.spec, args, self->on_.device));
        return self->Run(entry, kernels, arguments);
      });
}

absl::Status Program::Run(const TableFunction& entry,
                          absl::Span<const cl_kernel> kernels,
                          absl::Span<void* const> arguments) const {
  for (size_t i = 0; i < kernels.size(); ++i) {
    INGOT_RETURN_IF_ERROR(
        device_->Launch(kernels[i], arguments,
                        static_cast<size_t>(entry.launches[i].work_items)));
  }
  return absl::OkStatus();
}

}  // namespace ingot::opencl
