// A driver for tests, of a device that is this process's memory. It has the
// functions of the real ones, under CUDA's names in libcuda.so.1 and HIP's in
// libamdhip64.so, says what was done, and fails where it is told to. The work
// of a stream is done when somebody waits for it, and not before: whoever
// forgets to wait sees what was there. Whoever opens it finds the functions
// below by their names (open_fake_driver.h).
#ifndef INGOT_BACKENDS_GPU_TESTING_FAKE_DRIVER_H_
#define INGOT_BACKENDS_GPU_TESTING_FAKE_DRIVER_H_

#include <cstddef>

extern "C" {

// A line for each copy, kernel, piece of loaded code and map of a tensor that
// was done since the last call. Valid until the next call.
const char* FakeDriverLog();

// Lets the next call of the function with that name return this code, or the
// next kernel that runs fail with it: "kernel".
void FakeDriverFail(const char* function, int code);

// Is called with each kernel that is launched, its work items and the addresses
// that are its arguments, of which those that are no addresses are null; null:
// kernels do nothing.
void FakeDriverRun(void (*run)(const char* kernel, size_t work_items,
                               void* const* arguments));

// Whether kernels are computed from now on, from code that is loaded from now
// on: its PTX is emulated (isa/testing/ptx/machine.h), on memory that is 0xff
// at first. Where the environment has INGOT_FAKE_CUDA=compute they are from the
// beginning. Kernels fail with the codes of CUDA's driver, and the log and
// stderr say why. HIP's code is not computed.
void FakeDriverCompute(bool computes);

// Lets a fake library queue work on a stream: work(data) is called when it is
// due, and gives a driver's code. `name` becomes a line of the log. Returns a
// driver's code.
int FakeDriverQueue(void* stream, const char* name, int (*work)(void*),
                    void* data);

// Whether all of these bytes are in one piece of the device's memory.
bool FakeDriverHas(const void* address, size_t bytes);

// Memory, code, streams and events that were made and are there still.
int FakeDriverHeld();

// The streams among them.
int FakeDriverStreams();

}  // extern "C"

#endif  // INGOT_BACKENDS_GPU_TESTING_FAKE_DRIVER_H_
