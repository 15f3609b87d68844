// Kernels in PTX that the fake driver computes, where it is told to.
#ifndef INGOT_BACKENDS_GPU_TESTING_FAKE_COMPUTE_H_
#define INGOT_BACKENDS_GPU_TESTING_FAKE_COMPUTE_H_

#include <functional>
#include <memory>
#include <string>

#include "backends/gpu/testing/fake_state.h"

namespace fake_driver {

// Decodes an image, of which PTX is the end. Null: the machine does not know
// it, and the log and stderr say why.
std::shared_ptr<const ingot::isa::ptx::Module> DecodeKernels(
    const std::string& image);

// Reads the parameters, which are as cuLaunchKernel has them. The function that
// it returns computes the kernel on the memory that there is then, and gives a
// driver's code; where that is none, the log and stderr say why.
std::function<int()> PrepareKernel(const FakeKernel& kernel, unsigned grid,
                                   unsigned block, unsigned shared_bytes,
                                   void** parameters);

}  // namespace fake_driver

#endif  // INGOT_BACKENDS_GPU_TESTING_FAKE_COMPUTE_H_
