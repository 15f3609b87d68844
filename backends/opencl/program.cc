#include "backends/opencl/program.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "runtime/plan/call_spec.h"

namespace ingot::opencl {

absl::StatusOr<std::shared_ptr<Program>> Program::Create(OpenDevice on,
                                                         Blob source) {
  auto device = std::dynamic_pointer_cast<ClDevice>(on.api);
  if (device == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("kernels of OpenCL are to run on ", on.device.ToString()));
  }
  INGOT_ASSIGN_OR_RETURN(cl_program built, device->Build(source.view()));
  std::shared_ptr<Program> program(
      new Program(std::move(on), std::move(device), std::move(source)));
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
            std::vector<void*> arguments,
            CheckCall(entry.name, entry.spec, args, self->on_.device));
        return self->Run(entry, kernels, std::move(arguments));
      });
}

absl::Status Program::Run(const TableFunction& entry,
                          absl::Span<const cl_kernel> kernels,
                          std::vector<void*> arguments) const {
  Tensor failed;
  if (entry.checks) {
    INGOT_ASSIGN_OR_RETURN(
        failed, Tensor::Empty(DataType::Int(32), {}, on_.device, on_.api));
    const int32_t none = 0;
    INGOT_RETURN_IF_ERROR(device_->CopyFromCpu(
        on_.device, failed.mutable_raw_data(), &none, sizeof(none)));
    arguments.push_back(failed.mutable_raw_data());
  } else {
    arguments.push_back(nullptr);  // no kernel looks at it
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    INGOT_RETURN_IF_ERROR(
        device_->Launch(kernels[i], arguments,
                        static_cast<size_t>(entry.launches[i].work_items)));
  }
  return entry.checks ? Checked(entry, failed) : absl::OkStatus();
}

absl::Status Program::Checked(const TableFunction& entry,
                              const Tensor& failed) const {
  int32_t line = 0;
  INGOT_RETURN_IF_ERROR(
      device_->CopyToCpu(on_.device, &line, failed.raw_data(), sizeof(line)));
  if (line == 0) return absl::OkStatus();
  // The check names what is wrong in the source.
  int number = 0;
  for (absl::string_view text : absl::StrSplit(source_.view(), '\n')) {
    if (++number != line) continue;
    const std::vector<absl::string_view> words = absl::StrSplit(text, '"');
    if (words.size() > 3) return absl::InvalidArgumentError(words[3]);
  }
  return absl::InvalidArgumentError(
      absl::StrCat(entry.name, ": the check on line ", line, " of ",
                   kSourceFile, " failed"));
}

}  // namespace ingot::opencl
