// For fakes of libraries that work on our fake driver's device: what they need
// of it. Each is a shared library of its own, which opens the driver.
#ifndef INGOT_BACKENDS_GPU_TESTING_FAKE_LIBRARY_H_
#define INGOT_BACKENDS_GPU_TESTING_FAKE_LIBRARY_H_

#include <dlfcn.h>

#include <cstddef>
#include <memory>

#include "backends/gpu/testing/fake_driver.h"

namespace fake_library {

// The driver's function of that name, whose type `like` has; null without one.
template <typename Function>
Function FindInDriver(const char* name, Function /*like*/) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return driver == nullptr ? nullptr
                           : reinterpret_cast<Function>(dlsym(driver, name));
}

inline bool IsOnDevice(const void* address, size_t bytes) {
  using Has = decltype(&FakeDriverHas);
  static const Has kHas = FindInDriver("FakeDriverHas", Has{});
  return kHas != nullptr && kHas(address, bytes);
}

// Queues work on a stream, which `run` does and frees. Whether there is such a
// stream.
template <typename Work>
bool Queue(void* stream, const char* name, int (*run)(void*),
           std::unique_ptr<Work> work) {
  using Enqueue = decltype(&FakeDriverQueue);
  static const Enqueue kEnqueue = FindInDriver("FakeDriverQueue", Enqueue{});
  if (kEnqueue == nullptr || kEnqueue(stream, name, run, work.get()) != 0) {
    return false;
  }
  work.release();
  return true;
}

}  // namespace fake_library

#endif  // INGOT_BACKENDS_GPU_TESTING_FAKE_LIBRARY_H_
