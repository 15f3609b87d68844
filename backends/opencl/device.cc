#include "backends/opencl/device.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot::opencl {
namespace {

// More than any system has; a broken driver may say anything.
constexpr cl_uint kMostDevices = 64;

// An address for no bytes still is one.
size_t AtLeastOne(size_t bytes) { return std::max<size_t>(bytes, 1); }

bool HasSharedMemory(const Driver& driver, cl_device_id id) {
  cl_device_svm_capabilities capabilities = 0;
  return driver.GetDeviceInfo(id, CL_DEVICE_SVM_CAPABILITIES,
                              sizeof(capabilities), &capabilities,
                              nullptr) == CL_SUCCESS &&
         (capabilities & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
}

}  // namespace

absl::StatusOr<OpenDevice> ClDevice::Open() {
  INGOT_ASSIGN_OR_RETURN(const Driver* driver, Driver::Open());
  cl_uint count = 0;
  std::vector<cl_platform_id> platforms(kMostDevices);
  // An error means that there is no platform.
  if (driver->GetPlatformIDs(kMostDevices, platforms.data(), &count) !=
      CL_SUCCESS) {
    count = 0;
  }
  platforms.resize(std::min(count, kMostDevices));
  for (cl_platform_id platform : platforms) {
    std::vector<cl_device_id> ids(kMostDevices);
    if (driver->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, kMostDevices,
                             ids.data(), &count) != CL_SUCCESS) {
      continue;
    }
    ids.resize(std::min(count, kMostDevices));
    for (cl_device_id id : ids) {
      if (!HasSharedMemory(*driver, id)) continue;
      std::shared_ptr<ClDevice> device(new ClDevice(*driver, id));
      INGOT_RETURN_IF_ERROR(device->Init());
      return OpenDevice{Device{kDLOpenCL, 0}, std::move(device)};
    }
  }
  return absl::NotFoundError(
      absl::StrCat("of ", platforms.size(),
                   " OpenCL platforms none has a device with shared virtual "
                   "memory; Debian's package pocl-opencl-icd makes a CPU one"));
}

absl::Status ClDevice::Init() {
  char name[256] = {};
  driver_.GetDeviceInfo(id_, CL_DEVICE_NAME, sizeof(name) - 1, name, nullptr);
  name_ = name;
  cl_int code = CL_SUCCESS;
  context_ = driver_.CreateContext(nullptr, 1, &id_, nullptr, nullptr, &code);
  INGOT_RETURN_IF_ERROR(ToStatus("clCreateContext", code));
  queue_ =
      driver_.CreateCommandQueueWithProperties(context_, id_, nullptr, &code);
  return ToStatus("clCreateCommandQueue", code);
}

ClDevice::~ClDevice() {
  if (queue_ != nullptr) driver_.ReleaseCommandQueue(queue_);
  if (context_ != nullptr) driver_.ReleaseContext(context_);
}

absl::StatusOr<void*> ClDevice::Allocate(Device, size_t bytes,
                                         size_t alignment) {
  void* const memory =
      driver_.SVMAlloc(context_, CL_MEM_READ_WRITE, AtLeastOne(bytes),
                       static_cast<cl_uint>(alignment));
  if (memory != nullptr) return memory;
  return absl::ResourceExhaustedError(
      absl::StrCat(name_, " has no memory for ", bytes, " bytes"));
}

void ClDevice::Free(Device, void* memory) {
  // Work that uses it may still be waiting.
  driver_.Finish(queue_);
  driver_.SVMFree(context_, memory);
}

absl::Status ClDevice::Copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  return ToStatus("clEnqueueSVMMemcpy",
                  driver_.EnqueueSVMMemcpy(queue_, /*blocking=*/CL_TRUE, to,
                                           from, bytes, 0, nullptr, nullptr));
}

absl::Status ClDevice::CopyFromCpu(Device, void* to, const void* from,
                                   size_t bytes) {
  return Copy(to, from, bytes);
}

absl::Status ClDevice::CopyToCpu(Device, void* to, const void* from,
                                 size_t bytes) {
  return Copy(to, from, bytes);
}

absl::StatusOr<cl_program> ClDevice::Build(absl::string_view source) {
  const char* text = source.data();
  const size_t length = source.size();
  cl_int code = CL_SUCCESS;
  cl_program program =
      driver_.CreateProgramWithSource(context_, 1, &text, &length, &code);
  INGOT_RETURN_IF_ERROR(ToStatus("clCreateProgramWithSource", code));
  code =
      driver_.BuildProgram(program, 1, &id_, "-cl-std=CL2.0", nullptr, nullptr);
  if (code == CL_SUCCESS) return program;
  std::string log(2048, '\0');
  size_t size = 0;
  driver_.GetProgramBuildInfo(program, id_, CL_PROGRAM_BUILD_LOG, log.size(),
                              log.data(), &size);
  driver_.ReleaseProgram(program);
  log.resize(std::min(size, log.size()));
  return absl::InvalidArgumentError(
      absl::StrCat(name_, " does not compile it (", code, "): ", log.c_str()));
}

absl::Status ClDevice::Launch(cl_kernel kernel,
                              absl::Span<void* const> arguments,
                              size_t work_items, size_t group) {
  const absl::MutexLock lock(&mutex_);
  for (size_t i = 0; i < arguments.size(); ++i) {
    INGOT_RETURN_IF_ERROR(
        ToStatus("clSetKernelArgSVMPointer",
                 driver_.SetKernelArgSVMPointer(kernel, static_cast<cl_uint>(i),
                                                arguments[i])));
  }
  return ToStatus("clEnqueueNDRangeKernel",
                  driver_.EnqueueNDRangeKernel(
                      queue_, kernel, 1, nullptr, &work_items,
                      group == 0 ? nullptr : &group, 0, nullptr, nullptr));
}

}  // namespace ingot::opencl
