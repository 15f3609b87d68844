#include "backends/gpu/testing/open_fake_driver.h"

#include <dlfcn.h>

namespace ingot::testing_support {

void FakeDriverTest::SetUp() {
  void* const library = dlopen(library_, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto find = [library](const char* name, auto* function) {
    *function = reinterpret_cast<decltype(+*function)>(dlsym(library, name));
    ASSERT_NE(*function, nullptr) << name << ": this is no fake driver";
  };
  find("FakeDriverLog", &log_);
  find("FakeDriverFail", &fail_);
  find("FakeDriverRun", &run_);
  find("FakeDriverCompute", &compute_);
  find("FakeDriverHeld", &held_);
  find("FakeDriverStreams", &streams_);
  if (HasFatalFailure()) return;
  run_(nullptr);
  log_();
}

void FakeDriverTest::TearDown() {
  if (held_ != nullptr) EXPECT_EQ(held_(), 0);
}

}  // namespace ingot::testing_support
