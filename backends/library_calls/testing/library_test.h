// Tests of a library's target, on fakes of the driver and the library.
#ifndef INGOT_BACKENDS_LIBRARY_CALLS_TESTING_LIBRARY_TEST_H_
#define INGOT_BACKENDS_LIBRARY_CALLS_TESTING_LIBRARY_TEST_H_

#include <string>
#include <vector>

#include "backends/gpu/testing/open_fake_driver.h"
#include "compiler/relay/ir.h"
#include "runtime/tensor.h"

namespace ingot::testing_support {

// A model in relay's text, whose result is %y.
std::string MainOf(const std::string& inputs, const std::string& body);

// Compiles such a model for `kind` before llvm, and returns the artifact that
// the first one made; empty: none. Fails the test where it does not compile.
std::string MadeBy(const std::string& kind, const std::string& model);

// Random numbers for a module's inputs, which are of f32.
std::vector<Tensor> RandomInputs(const relay::Module& module);

class LibraryTest : public FakeDriverTest {
 protected:
  LibraryTest() : FakeDriverTest("libcuda.so.1") {}

  // Compares a model's first result with the interpreter's, in three runs of
  // each of `threads` executors.
  static void ExpectRight(const std::string& model, const std::string& targets,
                          int threads = 1);
};

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_LIBRARY_CALLS_TESTING_LIBRARY_TEST_H_
