#include "backends/opencl/device.h"

#include <algorithm>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "backends/opencl/name.h"
#include "base/status_macros.h"

namespace ingot::opencl {
namespace {

// More than any system has; a broken driver may say anything.
constexpr cl_uint kMostDevices = 64;

// An address for no bytes still is one.
size_t AtLeastOne(size_t bytes) { return std::max<size_t>(bytes, 1); }

// LoadCode gives one: a compiled program, and those of its kernels that were
// found.
struct Code {
  cl_program program = nullptr;
  absl::Mutex mutex;
  std::vector<cl_kernel> kernels ABSL_GUARDED_BY(mutex);
};

bool HasSharedMemory(const Driver& driver, cl_device_id id) {
  cl_device_svm_capabilities capabilities = 0;
  return driver.GetDeviceInfo(id, CL_DEVICE_SVM_CAPABILITIES,
                              sizeof(capabilities), &capabilities,
                              nullptr) == CL_SUCCESS &&
         (capabilities & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
}

// Returns what CreateProgramWithBinary takes, of a program for one device;
// empty where the driver does not give it.
std::string BinaryOf(const Driver& driver, cl_program program) {
  size_t size = 0;
  if (driver.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size),
                            &size, nullptr) != CL_SUCCESS) {
    return "";
  }
  std::string binary(size, '\0');
  char* bytes = binary.data();
  if (driver.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes,
                            nullptr) != CL_SUCCESS) {
    return "";
  }
  return binary;
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
  name_ = Info(CL_DEVICE_NAME);
  cl_int code = CL_SUCCESS;
  context_ = driver_.CreateContext(nullptr, 1, &id_, nullptr, nullptr, &code);
  INGOT_RETURN_IF_ERROR(ToStatus("clCreateContext", code));
  INGOT_ASSIGN_OR_RETURN(own_, ClStream::Open(*this));
  return absl::OkStatus();
}

std::string ClDevice::Info(cl_device_info what) const {
  char text[256] = {};
  driver_.GetDeviceInfo(id_, what, sizeof(text) - 1, text, nullptr);
  return text;
}

ClDevice::~ClDevice() {
  own_ = nullptr;
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
  own_->Synchronize().IgnoreError();
  driver_.SVMFree(context_, memory);
}

absl::Status ClDevice::CopyFromCpu(Device, void* to, const void* from,
                                   size_t bytes) {
  INGOT_RETURN_IF_ERROR(own_->CopyFromCpu(to, from, bytes));
  return own_->Synchronize();
}

absl::Status ClDevice::CopyToCpu(Device, void* to, const void* from,
                                 size_t bytes) {
  INGOT_RETURN_IF_ERROR(own_->CopyToCpu(to, from, bytes));
  return own_->Synchronize();
}

absl::StatusOr<std::unique_ptr<DeviceStream>> ClDevice::OpenStream(Device) {
  return ClStream::Open(*this);
}

absl::string_view ClDevice::family() const { return kFamily; }

std::string ClDevice::BuiltFor() const {
  return absl::StrCat("device ", name_, "\nversion ", Info(CL_DEVICE_VERSION),
                      "\ndriver ", Info(CL_DRIVER_VERSION), "\n");
}

absl::StatusOr<void*> ClDevice::LoadCode(absl::string_view source,
                                         std::string* built) {
  const char* text = source.data();
  const size_t length = source.size();
  cl_int code = CL_SUCCESS;
  cl_program program =
      driver_.CreateProgramWithSource(context_, 1, &text, &length, &code);
  INGOT_RETURN_IF_ERROR(ToStatus("clCreateProgramWithSource", code));
  INGOT_ASSIGN_OR_RETURN(void* const loaded, Build(program));
  if (built != nullptr) *built = BinaryOf(driver_, program);
  return loaded;
}

absl::StatusOr<void*> ClDevice::LoadBuilt(absl::string_view binary) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const size_t length = binary.size();
  cl_int status = CL_SUCCESS, code = CL_SUCCESS;
  cl_program program = driver_.CreateProgramWithBinary(
      context_, 1, &id_, &length, &bytes, &status, &code);
  INGOT_RETURN_IF_ERROR(ToStatus("clCreateProgramWithBinary", code));
  return Build(program);
}

absl::StatusOr<void*> ClDevice::Build(cl_program program) {
  const cl_int code =
      driver_.BuildProgram(program, 1, &id_, "-cl-std=CL2.0", nullptr, nullptr);
  if (code == CL_SUCCESS) {
    auto* const loaded = new Code;
    loaded->program = program;
    return loaded;
  }
  std::string log(2048, '\0');
  size_t size = 0;
  driver_.GetProgramBuildInfo(program, id_, CL_PROGRAM_BUILD_LOG, log.size(),
                              log.data(), &size);
  driver_.ReleaseProgram(program);
  log.resize(std::min(size, log.size()));
  return absl::InvalidArgumentError(
      absl::StrCat(name_, " does not compile it (", code, "): ", log.c_str()));
}

void ClDevice::UnloadCode(void* code) {
  own_->Synchronize().IgnoreError();
  const std::unique_ptr<Code> loaded(static_cast<Code*>(code));
  const absl::MutexLock lock(&loaded->mutex);
  for (cl_kernel kernel : loaded->kernels) driver_.ReleaseKernel(kernel);
  driver_.ReleaseProgram(loaded->program);
}

absl::StatusOr<void*> ClDevice::FindKernel(void* code,
                                           const device::Launch& launch,
                                           size_t /*arguments*/) {
  if (launch.shared_bytes != 0 || !launch.maps.empty()) {
    return absl::InvalidArgumentError(
        "code for OpenCL has arrays for all that a group shares");
  }
  auto& loaded = *static_cast<Code*>(code);
  cl_int result = CL_SUCCESS;
  cl_kernel kernel =
      driver_.CreateKernel(loaded.program, launch.kernel.c_str(), &result);
  if (result != CL_SUCCESS) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no kernel '", launch.kernel, "' (", result, ")"));
  }
  const absl::MutexLock lock(&loaded.mutex);
  loaded.kernels.push_back(kernel);
  return kernel;
}

absl::Status ClDevice::Run(void* kernel, const device::Launch& launch,
                           absl::Span<void* const> arguments) {
  auto* stream = dynamic_cast<ClStream*>(DeviceStream::Current());
  if (stream == nullptr || &stream->device() != this) stream = own_.get();
  auto* const handle = static_cast<cl_kernel>(kernel);
  const absl::MutexLock lock(&mutex_);
  for (size_t i = 0; i < arguments.size(); ++i) {
    INGOT_RETURN_IF_ERROR(
        ToStatus("clSetKernelArgSVMPointer",
                 driver_.SetKernelArgSVMPointer(handle, static_cast<cl_uint>(i),
                                                arguments[i])));
  }
  return stream->Run(handle, launch);
}

}  // namespace ingot::opencl
