#include "runtime/device.h"

#include <cstdint>
#include <cstring>
#include <memory>

#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(Device, Names) {
  EXPECT_EQ(Device::Cpu().ToString(), "cpu");
  EXPECT_EQ((Device{kDLCUDA, 1}).ToString(), "cuda:1");
  EXPECT_EQ((Device{static_cast<DLDeviceType>(99), 0}).ToString(),
            "device99:0");
}

TEST(CpuApi, AllocatesAligned) {
  auto api = CpuDeviceApi();
  for (size_t alignment : {1, 2, 8, 64, 4096}) {
    auto memory = api->Allocate(Device::Cpu(), 100, alignment);
    ASSERT_TRUE(memory.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(*memory) % alignment, 0u);
    std::memset(*memory, 1, 100);
    api->Free(Device::Cpu(), *memory);
  }
}

TEST(CpuApi, RefusesWhatCannotBe) {
  auto api = CpuDeviceApi();
  EXPECT_EQ(api->Allocate(Device::Cpu(), 8, 3).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(api->Allocate(Device::Cpu(), SIZE_MAX, 64).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(CpuApi, ZeroBytesHaveAnAddress) {
  auto api = CpuDeviceApi();
  auto memory = api->Allocate(Device::Cpu(), 0, 64);
  ASSERT_TRUE(memory.ok());
  EXPECT_NE(*memory, nullptr);
  api->Free(Device::Cpu(), *memory);
}

}  // namespace
}  // namespace ingot
