// Where there is no driver, which is where most tests run.
#include <dlfcn.h>

#include <string>

#include "backends/gpu/device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::gpu {
namespace {

TEST(NoDriver, IsOneClearLine) {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr) {
    GTEST_SKIP() << "this system has one";
  }
  const auto device = GpuDevice::Open(kCuda);
  EXPECT_EQ(device.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(device.status().message(),
            "this system has no libcuda.so.1, which NVIDIA's driver brings");
}

TEST(NoDriver, OfAmdNeither) {
  if (dlopen("libamdhip64.so", RTLD_NOW | RTLD_LOCAL) != nullptr) {
    GTEST_SKIP() << "this system has one";
  }
  const auto device = GpuDevice::Open(kHip);
  EXPECT_EQ(device.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(device.status().message(),
            "this system has no libamdhip64.so, which AMD's ROCm brings");
}

}  // namespace
}  // namespace ingot::gpu
