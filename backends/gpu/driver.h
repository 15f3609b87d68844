// The drivers of GPUs, opened when they are needed: building Ingot needs
// nothing of them, not even headers. CUDA's driver API and HIP's have the same
// functions under other names, as far as they are used here.
#ifndef INGOT_BACKENDS_GPU_DRIVER_H_
#define INGOT_BACKENDS_GPU_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/c_abi.h"

namespace ingot::gpu {

// Handles are pointers, and so are addresses of a device's memory.
using Context = void*;
using Stream = void*;
using Event = void*;
using CodeHandle = void*;
using LinkHandle = void*;
using Kernel = void*;
using Graph = void*;     // recorded work
using GraphRun = void*;  // the same, ready to be queued

// X(our name, parameters, CUDA's name, HIP's name). All return a code, 0 for
// success.
#define INGOT_GPU_FUNCTIONS(X)                                                 \
  X(Init, (unsigned flags), "cuInit", "hipInit")                               \
  X(CountDevices, (int* count), "cuDeviceGetCount", "hipGetDeviceCount")       \
  X(GetDevice, (int* device, int number), "cuDeviceGet", "hipDeviceGet")       \
  X(GetName, (char* name, int length, int device), "cuDeviceGetName",          \
    "hipDeviceGetName")                                                        \
  X(RetainContext, (Context * context, int device),                            \
    "cuDevicePrimaryCtxRetain", "hipDevicePrimaryCtxRetain")                   \
  X(ReleaseContext, (int device), "cuDevicePrimaryCtxRelease_v2",              \
    "hipDevicePrimaryCtxRelease")                                              \
  X(GetContext, (Context * context), "cuCtxGetCurrent", "hipCtxGetCurrent")    \
  X(SetContext, (Context context), "cuCtxSetCurrent", "hipCtxSetCurrent")      \
  X(CreateStream, (Stream * stream, unsigned flags), "cuStreamCreate",         \
    "hipStreamCreateWithFlags")                                                \
  X(DestroyStream, (Stream stream), "cuStreamDestroy_v2", "hipStreamDestroy")  \
  X(Wait, (Stream stream), "cuStreamSynchronize", "hipStreamSynchronize")      \
  X(CreateEvent, (Event * event, unsigned flags), "cuEventCreate",             \
    "hipEventCreateWithFlags")                                                 \
  X(DestroyEvent, (Event event), "cuEventDestroy_v2", "hipEventDestroy")       \
  X(RecordEvent, (Event event, Stream stream), "cuEventRecord",                \
    "hipEventRecord")                                                          \
  X(WaitForEvent, (Event event), "cuEventSynchronize", "hipEventSynchronize")  \
  X(LetStreamWait, (Stream stream, Event event, unsigned flags),               \
    "cuStreamWaitEvent", "hipStreamWaitEvent")                                 \
  X(Allocate, (void** memory, size_t bytes), "cuMemAlloc_v2", "hipMalloc")     \
  X(Free, (void* memory), "cuMemFree_v2", "hipFree")                           \
  X(CopyToDevice, (void* to, const void* from, size_t bytes, Stream stream),   \
    "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync")                              \
  X(CopyToHost, (void* to, const void* from, size_t bytes, Stream stream),     \
    "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync")                              \
  X(LoadCode,                                                                  \
    (CodeHandle * code, const void* image, unsigned num_options, int* options, \
     void** values),                                                           \
    "cuModuleLoadDataEx", "hipModuleLoadDataEx")                               \
  X(UnloadCode, (CodeHandle code), "cuModuleUnload", "hipModuleUnload")        \
  X(FindKernel, (Kernel * kernel, CodeHandle code, const char* name),          \
    "cuModuleGetFunction", "hipModuleGetFunction")                             \
  X(Launch,                                                                    \
    (Kernel kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,         \
     unsigned block_x, unsigned block_y, unsigned block_z,                     \
     unsigned shared_bytes, Stream stream, void** parameters, void** extra),   \
    "cuLaunchKernel", "hipModuleLaunchKernel")                                 \
  X(BeginRecording, (Stream stream, int mode), "cuStreamBeginCapture_v2",      \
    "hipStreamBeginCapture")                                                   \
  X(EndRecording, (Stream stream, Graph * graph), "cuStreamEndCapture",        \
    "hipStreamEndCapture")                                                     \
  X(PrepareGraph, (GraphRun * run, Graph graph, unsigned long long flags),     \
    "cuGraphInstantiateWithFlags", "hipGraphInstantiateWithFlags")             \
  X(QueueGraph, (GraphRun run, Stream stream), "cuGraphLaunch",                \
    "hipGraphLaunch")                                                          \
  X(DestroyGraph, (Graph graph), "cuGraphDestroy", "hipGraphDestroy")          \
  X(DestroyGraphRun, (GraphRun run), "cuGraphExecDestroy",                     \
    "hipGraphExecDestroy")                                                     \
  X(GetErrorText, (int code, const char** text), "cuGetErrorString",           \
    "hipDrvGetErrorString")

// The same of CUDA alone, which compiles PTX: its linker gives what it made. A
// kernel must be told before it is given much memory that a group shares.
#define INGOT_CUDA_FUNCTIONS(X)                                             \
  X(GetVersion, (int* version), "cuDriverGetVersion")                       \
  X(BeginLink,                                                              \
    (unsigned num_options, int* options, void** values, LinkHandle* link),  \
    "cuLinkCreate_v2")                                                      \
  X(AddToLink,                                                              \
    (LinkHandle link, int type, void* data, size_t bytes, const char* name, \
     unsigned num_options, int* options, void** values),                    \
    "cuLinkAddData_v2")                                                     \
  X(FinishLink, (LinkHandle link, void** binary, size_t* bytes),            \
    "cuLinkComplete")                                                       \
  X(EndLink, (LinkHandle link), "cuLinkDestroy")                            \
  X(SetKernel, (Kernel kernel, int attribute, int value), "cuFuncSetAttribute")

// CUDA's driver has these from version 12 on; before, they are null. The first
// describes a tensor of which kernels copy boxes, in 128 bytes that a kernel
// gets as an argument. The other one, which 12.4 brought, says where a kernel's
// parameter lies, and fails where there is none of that number.
#define INGOT_CUDA_12_FUNCTIONS(X)                                           \
  X(DescribeTensor,                                                          \
    (void* map, int type, unsigned rank, void* memory, const uint64_t* dims, \
     const uint64_t* strides, const uint32_t* box, const uint32_t* steps,    \
     int interleave, int swizzle, int promotion, int beyond_ends),           \
    "cuTensorMapEncodeTiled")                                                \
  X(GetParameter,                                                            \
    (Kernel kernel, size_t number, size_t * offset, size_t * bytes),         \
    "cuFuncGetParamInfo")

// A family of GPUs that share a driver: a value.
struct Family {
  const char* name;     // "CUDA"
  const char* library;  // "libcuda.so.1"
  const char* package;  // what brings it, for people
  DLDeviceType device_type;
};
extern const Family kCuda;
extern const Family kHip;

struct Driver {
  const Family* family = nullptr;
#define INGOT_GPU_FIELD(name, parameters, cuda, hip) \
  int(*name) parameters = nullptr;
  INGOT_GPU_FUNCTIONS(INGOT_GPU_FIELD)
#undef INGOT_GPU_FIELD
#define INGOT_CUDA_FIELD(name, parameters, cuda) \
  int(*name) parameters = nullptr;
  INGOT_CUDA_FUNCTIONS(INGOT_CUDA_FIELD)
  INGOT_CUDA_12_FUNCTIONS(INGOT_CUDA_FIELD)
#undef INGOT_CUDA_FIELD

  // The family's library, opened and initialised once; it stays open. NotFound
  // says what brings it. Thread-safe.
  static absl::StatusOr<const Driver*> Open(const Family& family);

  // OK, or what the driver means by a code that `doing` gave: "launching: an
  // illegal memory access was encountered (700)". ResourceExhausted where
  // memory ran out.
  absl::Status ToStatus(absl::string_view doing, int code) const;
};

}  // namespace ingot::gpu

#endif  // INGOT_BACKENDS_GPU_DRIVER_H_
