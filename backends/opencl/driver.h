// OpenCL's functions, from the library that the system's drivers share, opened
// when it is first needed: building Ingot needs its headers alone.
#ifndef INGOT_BACKENDS_OPENCL_DRIVER_H_
#define INGOT_BACKENDS_OPENCL_DRIVER_H_

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot::opencl {

// Those that are used, by OpenCL's names without "cl".
#define INGOT_OPENCL_FUNCTIONS(X)     \
  X(BuildProgram)                     \
  X(CreateCommandQueueWithProperties) \
  X(CreateContext)                    \
  X(CreateKernel)                     \
  X(CreateProgramWithBinary)          \
  X(CreateProgramWithSource)          \
  X(EnqueueBarrierWithWaitList)       \
  X(EnqueueMarkerWithWaitList)        \
  X(EnqueueNDRangeKernel)             \
  X(EnqueueSVMMemcpy)                 \
  X(Finish)                           \
  X(Flush)                            \
  X(GetDeviceIDs)                     \
  X(GetDeviceInfo)                    \
  X(GetPlatformIDs)                   \
  X(GetProgramBuildInfo)              \
  X(GetProgramInfo)                   \
  X(ReleaseCommandQueue)              \
  X(ReleaseContext)                   \
  X(ReleaseEvent)                     \
  X(ReleaseKernel)                    \
  X(ReleaseProgram)                   \
  X(SetKernelArgSVMPointer)           \
  X(SVMAlloc)                         \
  X(SVMFree)                          \
  X(WaitForEvents)

struct Driver {
#define INGOT_OPENCL_FIELD(name) decltype(&::cl##name) name = nullptr;
  INGOT_OPENCL_FUNCTIONS(INGOT_OPENCL_FIELD)
#undef INGOT_OPENCL_FIELD

  // The library, opened once; it stays open. NotFound says which package brings
  // it. Thread-safe.
  static absl::StatusOr<const Driver*> Open();
};

// OK, or what OpenCL means by a code: "clBuildProgram: -11".
absl::Status ToStatus(absl::string_view function, cl_int code);

}  // namespace ingot::opencl

#endif  // INGOT_BACKENDS_OPENCL_DRIVER_H_
