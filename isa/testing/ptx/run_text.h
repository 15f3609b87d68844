// Kernels in PTX for tests of the machine.
#ifndef INGOT_ISA_TESTING_PTX_RUN_TEXT_H_
#define INGOT_ISA_TESTING_PTX_RUN_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "isa/testing/ptx/module.h"
#include "isa/testing/ptx/tensor_map.h"

namespace ingot::isa::ptx {

// A module with the kernel "k", whose parameters are the addresses of `in` and
// `out`. When the body begins, %in has the first, %out that of the thread's
// word of the second, which is `words` words long for each thread, and %t the
// thread's number in its block. It may use %r0 to %r31 and so on for %s (16
// bits), %d (64), %f, %g (f64) and %p (predicates). `body` begins in line 20.
std::string KernelOf(const std::string& body, int words = 1);

// The same with a third parameter, which is a map of a tensor.
std::string KernelWithMap(const std::string& body, int words = 1);

// Runs "k" of a module, and fails the test where it is none. `in` and `out` are
// in memory that the kernel may use, which is aligned to 256 bytes. With a map,
// whose address counts from `in`, that is the third parameter.
Failure RunText(const std::string& text, uint32_t block,
                const std::vector<uint32_t>& in, std::vector<uint32_t>* out,
                uint32_t grid = 1, const TensorMap* map = nullptr);

// Runs a body in one block, and returns the words that its threads stored.
// Fails the test where the body does.
std::vector<uint32_t> WordsOf(const std::string& body, uint32_t block,
                              const std::vector<uint32_t>& in = {},
                              int words = 1);

// Runs a body, and says how it fails.
Failure FailureOf(const std::string& body, uint32_t block,
                  const std::vector<uint32_t>& in = {0});

}  // namespace ingot::isa::ptx

#endif  // INGOT_ISA_TESTING_PTX_RUN_TEXT_H_
