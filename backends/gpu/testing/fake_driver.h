// A driver for tests, of a device that is this process's memory. It has the
// functions of the real ones, under CUDA's names in libcuda.so.1 and HIP's in
// libamdhip64.so, says what was called, and fails where it is told to. Whoever
// opens it finds the functions below by their names.
#ifndef INGOT_BACKENDS_GPU_TESTING_FAKE_DRIVER_H_
#define INGOT_BACKENDS_GPU_TESTING_FAKE_DRIVER_H_

#include <cstddef>

extern "C" {

// A line for each copy, launch and piece of loaded code since the last call.
// Valid until the next call.
const char* FakeDriverLog();

// Lets the next call of the function with that name return this code.
void FakeDriverFail(const char* function, int code);

// Is called with each kernel that is launched, its work items and the addresses
// that are its arguments; null: kernels do nothing.
void FakeDriverRun(void (*run)(const char* kernel, size_t work_items,
                               void* const* arguments));

// Memory that was allocated and not freed, and code that was not unloaded.
int FakeDriverHeld();

}  // extern "C"

#endif  // INGOT_BACKENDS_GPU_TESTING_FAKE_DRIVER_H_
