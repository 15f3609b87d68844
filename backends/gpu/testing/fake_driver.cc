#include "backends/gpu/testing/fake_driver.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#ifndef INGOT_FAKE_HIP
#include "backends/gpu/testing/fake_compute.h"
#endif
#include "backends/gpu/testing/fake_state.h"

using namespace fake_driver;  // NOLINT: the functions are no one else's

namespace {

// Queues a copy, and a line about it.
int QueueCopy(void* stream, void* to, const void* from, size_t bytes,
              const char* where) {
  FakeStream* const queue = StreamOf(stream);
  if (queue == nullptr) return kInvalidValue;
  queue->Add([=] {
    std::memcpy(to, from, bytes);
    S().log += where + std::to_string(bytes) + "\n";
    return kOk;
  });
  return kOk;
}

// Whether all of it was allocated together.
bool IsAllocated(const void* address, size_t bytes) {
  for (const auto& [block, size] : S().blocks) {
    const char* const first = static_cast<const char*>(block);
    const char* const at = static_cast<const char*>(address);
    if (at >= first && at + bytes <= first + size) return true;
  }
  return false;
}

#ifdef INGOT_FAKE_HIP
// A code object has a descriptor for each kernel.
bool IsCode(const std::string& image) { return image[0] == '\x7f'; }
bool HasKernel(const FakeCode&, const std::string&) { return true; }
std::vector<bool> ParametersOf(const FakeCode&, const std::string&) {
  return {};
}
bool Decode(FakeCode*) { return true; }
std::function<int()> WorkOf(const FakeKernel&, unsigned, unsigned, unsigned,
                            void**) {
  return nullptr;
}
#else
bool IsCode(const std::string& image) {
  return image.find(".version") != std::string::npos;
}
bool HasKernel(const FakeCode& code, const std::string& name) {
  return code.image.find(".entry " + name + "(") != std::string::npos;
}
// Those that are no addresses are arrays of bytes.
std::vector<bool> ParametersOf(const FakeCode& code, const std::string& name) {
  std::vector<bool> are_addresses;
  for (;;) {
    const std::string parameter =
        name + "_param_" + std::to_string(are_addresses.size());
    const auto has = [&](const std::string& text) {
      return code.image.find(text) != std::string::npos;
    };
    if (has(".b8 " + parameter + "[")) {
      are_addresses.push_back(false);
    } else if (has(".param .u64 " + parameter)) {
      are_addresses.push_back(true);
    } else {
      return are_addresses;
    }
  }
}
// Makes the code ready, where kernels are computed.
bool Decode(FakeCode* code) {
  if (!S().computes) return true;
  code->module = DecodeKernels(code->image);
  return code->module != nullptr;
}
// Gives the function that computes the kernel; null: kernels are not computed.
std::function<int()> WorkOf(const FakeKernel& kernel, unsigned grid,
                            unsigned block, unsigned shared_bytes,
                            void** parameters) {
  if (!S().computes || kernel.module == nullptr) return nullptr;
  return PrepareKernel(kernel, grid, block, shared_bytes, parameters);
}
#endif

}  // namespace

extern "C" const char* FakeDriverLog() {
  const std::lock_guard<std::mutex> lock(S().mutex);
  S().log_given.swap(S().log);
  S().log.clear();
  return S().log_given.c_str();
}

extern "C" void FakeDriverFail(const char* function, int code) {
  const std::lock_guard<std::mutex> lock(S().mutex);
  S().failing[function] = code;
}

extern "C" void FakeDriverRun(void (*run)(const char*, size_t, void* const*)) {
  const std::lock_guard<std::mutex> lock(S().mutex);
  S().run = run;
}

extern "C" void FakeDriverCompute(bool computes) {
  const std::lock_guard<std::mutex> lock(S().mutex);
  S().computes = computes;
}

extern "C" int FakeDriverQueue(void* stream, const char* name,
                               int (*work)(void*), void* data) {
  const std::lock_guard<std::mutex> lock(S().mutex);
  if (current_context != &S()) return kNoContext;
  FakeStream* const queue = StreamOf(stream);
  if (queue == nullptr) return kInvalidValue;
  if (queue->recording != nullptr) {
    queue->recording->is_broken = true;
    return kCannotBeRecorded;
  }
  queue->Add([line = std::string(name) + "\n", work, data] {
    S().log += line;
    return work(data);
  });
  return kOk;
}

extern "C" bool FakeDriverHas(const void* address, size_t bytes) {
  const std::lock_guard<std::mutex> lock(S().mutex);
  return IsAllocated(address, bytes);
}

extern "C" int FakeDriverHeld() {
  const std::lock_guard<std::mutex> lock(S().mutex);
  return static_cast<int>(S().blocks.size() + S().codes.size() +
                          S().links.size() + S().streams.size() +
                          S().events.size() + S().graphs.size() +
                          S().graph_runs.size());
}

extern "C" int FakeDriverStreams() {
  const std::lock_guard<std::mutex> lock(S().mutex);
  return static_cast<int>(S().streams.size());
}

EXPORT int NAME(cuInit, hipInit)(unsigned) { return kOk; }

EXPORT int NAME(cuDeviceGetCount, hipGetDeviceCount)(int* count) {
  *count = 1;
  return kOk;
}

EXPORT int NAME(cuDeviceGet, hipDeviceGet)(int* device, int number) {
  *device = number + 40;  // a handle is not a number
  return kOk;
}

EXPORT int NAME(cuDeviceGetName, hipDeviceGetName)(char* name, int length,
                                                   int device) {
  if (device != 40) return kInvalidValue;
  std::strncpy(name, "Fake GPU", static_cast<size_t>(length));
  return kOk;
}

EXPORT int NAME(cuDevicePrimaryCtxRetain,
                hipDevicePrimaryCtxRetain)(void** context, int) {
  *context = &S();
  return kOk;
}

EXPORT int NAME(cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease)(int) {
  return kOk;
}

EXPORT int NAME(cuCtxGetCurrent, hipCtxGetCurrent)(void** context) {
  *context = current_context;
  return kOk;
}

EXPORT int NAME(cuCtxSetCurrent, hipCtxSetCurrent)(void* context) {
  current_context = context;
  return kOk;
}

EXPORT int NAME(cuStreamCreate, hipStreamCreateWithFlags)(void** stream,
                                                          unsigned) {
  BEGIN(cuStreamCreate, hipStreamCreateWithFlags, true);
  auto made = std::make_shared<FakeStream>();
  *stream = made.get();
  S().streams[*stream] = std::move(made);
  return kOk;
}

// Queued work is lost: the real ones go on with it.
EXPORT int NAME(cuStreamDestroy_v2, hipStreamDestroy)(void* stream) {
  BEGIN(cuStreamDestroy_v2, hipStreamDestroy, true);
  return S().streams.erase(stream) == 1 ? kOk : kInvalidValue;
}

EXPORT int NAME(cuStreamSynchronize, hipStreamSynchronize)(void* stream) {
  BEGIN(cuStreamSynchronize, hipStreamSynchronize, true);
  FakeStream* const waited = StreamOf(stream);
  if (waited == nullptr) return kInvalidValue;
  if (waited->recording != nullptr) {
    waited->recording->is_broken = true;
    return kCannotBeRecorded;
  }
  waited->RunUpTo(waited->added);
  return std::exchange(waited->failed, kOk);
}

EXPORT int NAME(cuStreamWaitEvent, hipStreamWaitEvent)(void* stream,
                                                       void* event, unsigned) {
  BEGIN(cuStreamWaitEvent, hipStreamWaitEvent, true);
  FakeStream* const waits = StreamOf(stream);
  const auto found = S().events.find(event);
  if (waits == nullptr || found == S().events.end()) return kInvalidValue;
  // As it is now: it may be recorded again, or destroyed.
  waits->Add([moment = *found->second]() mutable { return moment.Wait(); });
  return kOk;
}

EXPORT int NAME(cuEventCreate, hipEventCreateWithFlags)(void** event,
                                                        unsigned) {
  BEGIN(cuEventCreate, hipEventCreateWithFlags, true);
  auto made = std::make_shared<FakeEvent>();
  *event = made.get();
  S().events[*event] = std::move(made);
  return kOk;
}

EXPORT int NAME(cuEventDestroy_v2, hipEventDestroy)(void* event) {
  BEGIN(cuEventDestroy_v2, hipEventDestroy, true);
  return S().events.erase(event) == 1 ? kOk : kInvalidValue;
}

EXPORT int NAME(cuEventRecord, hipEventRecord)(void* event, void* stream) {
  BEGIN(cuEventRecord, hipEventRecord, true);
  const auto of = S().streams.find(stream);
  const auto found = S().events.find(event);
  if (of == S().streams.end() || found == S().events.end()) {
    return kInvalidValue;
  }
  *found->second = {of->second, of->second->added};
  return kOk;
}

EXPORT int NAME(cuEventSynchronize, hipEventSynchronize)(void* event) {
  BEGIN(cuEventSynchronize, hipEventSynchronize, true);
  const auto found = S().events.find(event);
  return found == S().events.end() ? kInvalidValue : found->second->Wait();
}

EXPORT int NAME(cuMemAlloc_v2, hipMalloc)(void** memory, size_t bytes) {
  BEGIN(cuMemAlloc_v2, hipMalloc, true);
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (S().computes) std::memset(*memory, 0xff, bytes);
  S().blocks[*memory] = bytes;
  return kOk;
}

EXPORT int NAME(cuMemFree_v2, hipFree)(void* memory) {
  BEGIN(cuMemFree_v2, hipFree, true);
  for (const auto& [handle, stream] : S().streams) {
    stream->RunUpTo(stream->added);
  }
  if (S().blocks.erase(memory) == 0) return kInvalidValue;
  std::free(memory);
  return kOk;
}

EXPORT int NAME(cuMemcpyHtoDAsync_v2,
                hipMemcpyHtoDAsync)(void* to, const void* from, size_t bytes,
                                    void* stream) {
  BEGIN(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync, true);
  if (!IsAllocated(to, bytes)) return kInvalidValue;
  return QueueCopy(stream, to, from, bytes, "to device ");
}

EXPORT int NAME(cuMemcpyDtoHAsync_v2,
                hipMemcpyDtoHAsync)(void* to, const void* from, size_t bytes,
                                    void* stream) {
  BEGIN(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync, true);
  if (!IsAllocated(from, bytes)) return kInvalidValue;
  return QueueCopy(stream, to, from, bytes, "to host ");
}

EXPORT int NAME(cuModuleLoadDataEx,
                hipModuleLoadDataEx)(void** code, const void* image,
                                     unsigned num_options, int* options,
                                     void** values) {
  BEGIN(cuModuleLoadDataEx, hipModuleLoadDataEx, true);
  auto made = std::make_unique<FakeCode>();
  made->image = static_cast<const char*>(image);
  if (!IsCode(made->image)) {
    for (unsigned i = 0; i < num_options; ++i) {
      if (options[i] == 5) {
        std::strcpy(static_cast<char*>(values[i]), "line 1: no such thing");
      }
    }
    return kInvalidImage;
  }
  if (!Decode(made.get())) return kInvalidImage;
  *code = made.get();
  S().log += "load\n";
  S().codes[*code] = std::move(made);
  return kOk;
}

#ifndef INGOT_FAKE_HIP
EXPORT int cuDriverGetVersion(int* version) {
  const std::lock_guard<std::mutex> lock(S().mutex);
  if (const int code = Fails("cuDriverGetVersion", false)) return code;
  *version = 12080;
  return kOk;
}

EXPORT int cuLinkCreate_v2(unsigned num_options, int* options, void** values,
                           void** link) {
  BEGIN(cuLinkCreate_v2, , true);
  auto made = std::make_unique<FakeLink>();
  for (unsigned i = 0; i < num_options; ++i) {
    if (options[i] == 5) made->log = static_cast<char*>(values[i]);
  }
  *link = made.get();
  S().links[*link] = std::move(made);
  return kOk;
}

EXPORT int cuLinkAddData_v2(void* link, int type, void* data, size_t bytes,
                            const char*, unsigned, int*, void**) {
  BEGIN(cuLinkAddData_v2, , true);
  FakeLink& to = *static_cast<FakeLink*>(link);
  const char* const text = static_cast<const char*>(data);
  if (type != 1 || std::strlen(text) + 1 != bytes) return kInvalidValue;
  if (!IsCode(text)) {
    std::strcpy(to.log, "line 1: no such thing");
    return kInvalidImage;
  }
  to.binary = std::string("CUBIN") + text;
  return kOk;
}

EXPORT int cuLinkComplete(void* link, void** binary, size_t* bytes) {
  BEGIN(cuLinkComplete, , true);
  FakeLink& of = *static_cast<FakeLink*>(link);
  *binary = of.binary.data();
  *bytes = of.binary.size();
  S().log += "compile\n";
  return kOk;
}

EXPORT int cuLinkDestroy(void* link) {
  BEGIN(cuLinkDestroy, , true);
  return S().links.erase(link) == 1 ? kOk : kInvalidValue;
}

EXPORT int cuFuncSetAttribute(void* kernel, int attribute, int value) {
  BEGIN(cuFuncSetAttribute, , true);
  constexpr int kSharedByLaunch = 8;
  // A block of an H100 has no more.
  if (attribute != kSharedByLaunch || value > 227 << 10) return kInvalidValue;
  static_cast<FakeKernel*>(kernel)->shared_by_launch = value;
  return kOk;
}

EXPORT int cuFuncGetParamInfo(void* kernel, size_t number, size_t* offset,
                              size_t* bytes) {
  BEGIN(cuFuncGetParamInfo, , true);
  constexpr size_t kMapBytes = 128;
  const std::vector<bool>& are_addresses =
      static_cast<FakeKernel*>(kernel)->parameters;
  if (number >= are_addresses.size()) return kInvalidValue;
  *offset = 0;
  *bytes = are_addresses[number] ? sizeof(void*) : kMapBytes;
  return kOk;
}
#endif

EXPORT int NAME(cuModuleUnload, hipModuleUnload)(void* code) {
  BEGIN(cuModuleUnload, hipModuleUnload, true);
  return S().codes.erase(code) == 1 ? kOk : kInvalidValue;
}

EXPORT int NAME(cuModuleGetFunction, hipModuleGetFunction)(void** kernel,
                                                           void* code,
                                                           const char* name) {
  BEGIN(cuModuleGetFunction, hipModuleGetFunction, true);
  FakeCode& from = *static_cast<FakeCode*>(code);
  if (!HasKernel(from, name)) return kNotFound;
  FakeKernel& found = from.kernels[name];
  found.name = name;
  found.parameters = ParametersOf(from, name);
  found.module = from.module;
  *kernel = &found;
  return kOk;
}

EXPORT int NAME(cuLaunchKernel, hipModuleLaunchKernel)(
    void* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
    void* stream, void** parameters, void** extra) {
  BEGIN(cuLaunchKernel, hipModuleLaunchKernel, true);
  const FakeKernel called = *static_cast<FakeKernel*>(kernel);
  if (grid_y * grid_z * block_y * block_z != 1 ||
      static_cast<int>(shared_bytes) > called.shared_by_launch ||
      extra != nullptr) {
    return kInvalidValue;
  }
  std::vector<void*> addresses(std::max<size_t>(called.parameters.size(), 64));
  for (size_t i = 0; i < called.parameters.size(); ++i) {
    if (!called.parameters[i]) continue;
    std::memcpy(&addresses[i], parameters[i], sizeof(void*));
    if (!IsAllocated(addresses[i], 1)) return kInvalidValue;
  }
  FakeStream* const queue = StreamOf(stream);
  if (queue == nullptr) return kInvalidValue;
  queue->Add([called, grid_x, block_x, addresses = std::move(addresses),
              compute =
                  WorkOf(called, grid_x, block_x, shared_bytes, parameters)] {
    if (const int code = Fails("kernel", false)) return code;
    S().log += "launch " + called.name + " " + std::to_string(grid_x) + " x " +
               std::to_string(block_x) + ", " +
               std::to_string(called.parameters.size()) + " arguments\n";
    if (S().run != nullptr) {
      S().run(called.name.c_str(), size_t{grid_x} * block_x, addresses.data());
    }
    return compute != nullptr ? compute() : int{kOk};
  });
  return kOk;
}

EXPORT int NAME(cuGetErrorString, hipDrvGetErrorString)(int code,
                                                        const char** text) {
  switch (code) {
    case 2:
      *text = "out of memory";
      return kOk;
    case 700:
      *text = "an illegal memory access was encountered";
      return kOk;
    case 715:
      *text = "an illegal instruction was encountered";
      return kOk;
    case 716:
      *text = "misaligned address";
      return kOk;
    default:
      *text = nullptr;
      return kInvalidValue;
  }
}
