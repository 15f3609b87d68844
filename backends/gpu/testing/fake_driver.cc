#include "backends/gpu/testing/fake_driver.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

// NAME(cuMemAlloc_v2, hipMalloc) is the name in the library that this becomes.
#ifdef INGOT_FAKE_HIP
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif
#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

enum Code {
  kOk = 0,
  kInvalidValue = 1,
  kInvalidImage = 200,
  kNoContext = 201,
  kNotFound = 500,
  kCannotBeRecorded = 900
};

struct FakeKernel {
  std::string name;
  size_t parameters = 0;
};

struct FakeCode {
  std::string image;
  std::map<std::string, FakeKernel> kernels;
};

// PTX becomes itself with a word before it.
struct FakeLink {
  std::string binary;
  char* log = nullptr;
};

// Work that is done as often as it is queued.
struct FakeGraph {
  std::vector<std::function<int()>> work;
  bool is_broken = false;
};

// Its work runs when somebody waits for it. Once some has failed, the rest is
// dropped until that was told.
struct FakeStream {
  std::deque<std::function<int()>> work;
  int64_t added = 0, done = 0;
  int failed = 0;
  std::unique_ptr<FakeGraph> recording;

  void Add(std::function<int()> what) {
    if (recording != nullptr) {
      recording->work.push_back(std::move(what));
      return;
    }
    work.push_back(std::move(what));
    ++added;
  }
  void RunUpTo(int64_t count) {
    while (done < count) {
      if (failed == 0) failed = work.front()();
      work.pop_front();
      ++done;
    }
  }
};

// A moment of a stream; of none, the past.
struct FakeEvent {
  std::shared_ptr<FakeStream> stream;
  int64_t count = 0;

  int Wait() {
    if (stream == nullptr) return 0;
    stream->RunUpTo(count);
    return stream->failed;
  }
};

struct State {
  std::mutex mutex;
  std::string log, log_given;
  std::map<std::string, int> failing;
  std::map<void*, size_t> blocks;
  std::map<void*, std::unique_ptr<FakeCode>> codes;
  std::map<void*, std::unique_ptr<FakeLink>> links;
  std::map<void*, std::shared_ptr<FakeStream>> streams;
  std::map<void*, std::shared_ptr<FakeEvent>> events;
  std::map<void*, std::unique_ptr<FakeGraph>> graphs, graph_runs;
  void (*run)(const char*, size_t, void* const*) = nullptr;
};

State& S() {
  static auto* const state = new State;
  return *state;
}

// Real drivers refuse a thread that has not said which device it means.
thread_local bool has_context = false;

// The code that the function shall give, without doing its work; kOk: none.
int Fails(const char* function, bool needs_context = true) {
  if (needs_context && !has_context) return kNoContext;
  const auto failing = S().failing.find(function);
  if (failing == S().failing.end()) return kOk;
  const int code = failing->second;
  S().failing.erase(failing);
  return code;
}

#define BEGIN(cuda, hip, needs_context)              \
  const std::lock_guard<std::mutex> lock(S().mutex); \
  if (const int code = Fails(NAME(#cuda, #hip), needs_context)) return code

FakeStream* StreamOf(void* handle) {
  const auto found = S().streams.find(handle);
  return found == S().streams.end() ? nullptr : found->second.get();
}

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
size_t CountParameters(const FakeCode&, const std::string&) { return 0; }
#else
bool IsCode(const std::string& image) {
  return image.find(".version") != std::string::npos;
}
bool HasKernel(const FakeCode& code, const std::string& name) {
  return code.image.find(".entry " + name + "(") != std::string::npos;
}
size_t CountParameters(const FakeCode& code, const std::string& name) {
  size_t count = 0;
  const std::string parameter = ".param .u64 " + name + "_param_";
  while (code.image.find(parameter + std::to_string(count)) !=
         std::string::npos) {
    ++count;
  }
  return count;
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

extern "C" int FakeDriverQueue(void* stream, const char* name,
                               int (*work)(void*), void* data) {
  const std::lock_guard<std::mutex> lock(S().mutex);
  if (!has_context) return kNoContext;
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

EXPORT int NAME(cuCtxSetCurrent, hipCtxSetCurrent)(void* context) {
  has_context = context == &S();
  return has_context ? kOk : kInvalidValue;
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

EXPORT int NAME(cuStreamBeginCapture_v2, hipStreamBeginCapture)(void* stream,
                                                                int mode) {
  BEGIN(cuStreamBeginCapture_v2, hipStreamBeginCapture, true);
  FakeStream* const records = StreamOf(stream);
  if (records == nullptr || records->recording != nullptr || mode != 1) {
    return kInvalidValue;
  }
  records->recording = std::make_unique<FakeGraph>();
  return kOk;
}

EXPORT int NAME(cuStreamEndCapture, hipStreamEndCapture)(void* stream,
                                                         void** graph) {
  BEGIN(cuStreamEndCapture, hipStreamEndCapture, true);
  FakeStream* const records = StreamOf(stream);
  if (records == nullptr || records->recording == nullptr) {
    return kInvalidValue;
  }
  std::unique_ptr<FakeGraph> made = std::move(records->recording);
  *graph = nullptr;
  if (made->is_broken) return kCannotBeRecorded;
  *graph = made.get();
  S().graphs[*graph] = std::move(made);
  return kOk;
}

EXPORT int NAME(cuGraphInstantiateWithFlags,
                hipGraphInstantiateWithFlags)(void** run, void* graph,
                                              unsigned long long flags) {
  BEGIN(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags, true);
  const auto found = S().graphs.find(graph);
  if (found == S().graphs.end() || flags != 0) return kInvalidValue;
  auto made = std::make_unique<FakeGraph>(*found->second);
  *run = made.get();
  S().graph_runs[*run] = std::move(made);
  return kOk;
}

EXPORT int NAME(cuGraphLaunch, hipGraphLaunch)(void* run, void* stream) {
  BEGIN(cuGraphLaunch, hipGraphLaunch, true);
  const auto found = S().graph_runs.find(run);
  FakeStream* const queue = StreamOf(stream);
  if (found == S().graph_runs.end() || queue == nullptr) return kInvalidValue;
  queue->Add([count = found->second->work.size()] {
    S().log += "graph of " + std::to_string(count) + "\n";
    return int{kOk};
  });
  for (const auto& work : found->second->work) queue->Add(work);
  return kOk;
}

EXPORT int NAME(cuGraphDestroy, hipGraphDestroy)(void* graph) {
  BEGIN(cuGraphDestroy, hipGraphDestroy, true);
  return S().graphs.erase(graph) == 1 ? kOk : kInvalidValue;
}

EXPORT int NAME(cuGraphExecDestroy, hipGraphExecDestroy)(void* run) {
  BEGIN(cuGraphExecDestroy, hipGraphExecDestroy, true);
  return S().graph_runs.erase(run) == 1 ? kOk : kInvalidValue;
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
  found.parameters = CountParameters(from, name);
  *kernel = &found;
  return kOk;
}

EXPORT int NAME(cuLaunchKernel, hipModuleLaunchKernel)(
    void* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
    void* stream, void** parameters, void** extra) {
  BEGIN(cuLaunchKernel, hipModuleLaunchKernel, true);
  if (grid_y * grid_z * block_y * block_z != 1 || shared_bytes != 0 ||
      extra != nullptr) {
    return kInvalidValue;
  }
  const FakeKernel called = *static_cast<FakeKernel*>(kernel);
  std::vector<void*> addresses(64);
  for (size_t i = 0; i < called.parameters; ++i) {
    std::memcpy(&addresses[i], parameters[i], sizeof(void*));
    if (!IsAllocated(addresses[i], 1)) return kInvalidValue;
  }
  FakeStream* const queue = StreamOf(stream);
  if (queue == nullptr) return kInvalidValue;
  queue->Add([called, grid_x, block_x, addresses = std::move(addresses)] {
    if (const int code = Fails("kernel", false)) return code;
    S().log += "launch " + called.name + " " + std::to_string(grid_x) + " x " +
               std::to_string(block_x) + ", " +
               std::to_string(called.parameters) + " arguments\n";
    if (S().run != nullptr) {
      S().run(called.name.c_str(), size_t{grid_x} * block_x, addresses.data());
    }
    return int{kOk};
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
    default:
      *text = nullptr;
      return kInvalidValue;
  }
}
