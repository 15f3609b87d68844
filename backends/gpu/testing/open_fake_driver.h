// The fake driver's functions for tests, found in the library that plays the
// driver. A test has that among its data, and its folder in LD_LIBRARY_PATH.
#ifndef INGOT_BACKENDS_GPU_TESTING_OPEN_FAKE_DRIVER_H_
#define INGOT_BACKENDS_GPU_TESTING_OPEN_FAKE_DRIVER_H_

#include "backends/gpu/testing/fake_driver.h"
#include "gtest/gtest.h"

namespace ingot::testing_support {

// Begins with an empty log, and ends with nothing held.
class FakeDriverTest : public ::testing::Test {
 protected:
  // "libcuda.so.1" or "libamdhip64.so".
  explicit FakeDriverTest(const char* library) : library_(library) {}

  void SetUp() override;
  void TearDown() override;

  decltype(&FakeDriverLog) log_ = nullptr;
  decltype(&FakeDriverFail) fail_ = nullptr;
  decltype(&FakeDriverRun) run_ = nullptr;
  decltype(&FakeDriverCompute) compute_ = nullptr;
  decltype(&FakeDriverHeld) held_ = nullptr;
  decltype(&FakeDriverStreams) streams_ = nullptr;

 private:
  const char* const library_;
};

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_GPU_TESTING_OPEN_FAKE_DRIVER_H_
