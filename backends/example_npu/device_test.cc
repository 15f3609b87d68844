// The simulated device by itself: memory, copies, queues.
#include "backends/example_npu/device.h"

#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::example_npu {
namespace {

using ::testing::HasSubstr;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

class NpuDeviceTest : public ::testing::Test {
 protected:
  explicit NpuDeviceTest(size_t memory = 1024)
      : open_(NpuDevice::Open(memory)),
        device_(static_cast<NpuDevice*>(open_.api.get())) {}

  void* Allocate(size_t bytes) {
    const auto memory = device_->Allocate(open_.device, bytes, 16);
    EXPECT_TRUE(memory.ok()) << memory.status();
    return memory.ok() ? *memory : nullptr;
  }

  absl::Status Write(void* to, const std::string& bytes) {
    return device_->CopyFromCpu(open_.device, to, bytes.data(), bytes.size());
  }
  std::string Read(const void* from, size_t size) {
    std::string bytes(size, '?');
    const absl::Status read =
        device_->CopyToCpu(open_.device, bytes.data(), from, size);
    return read.ok() ? bytes : Message(read);
  }

  const OpenDevice open_;
  NpuDevice* const device_;
};

TEST_F(NpuDeviceTest, MemoryIsBounded) {
  void* const most = Allocate(1000);
  const auto more = device_->Allocate(open_.device, 25, 16);
  EXPECT_EQ(more.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(more.status()),
              HasSubstr("example_npu has no memory for 25 bytes"));
  device_->Free(open_.device, most);
  EXPECT_EQ(device_->memory().bytes_in_use(), 0u);
  Allocate(1024);
}

TEST_F(NpuDeviceTest, AddressesAreItsOwn) {
  void* const here = Allocate(16);
  const OpenDevice other = NpuDevice::Open(1024);
  char bytes[16];
  EXPECT_THAT(Message(other.api->CopyToCpu(other.device, bytes, here, 16)),
              HasSubstr("has no 16 bytes at"));
  // Nor is memory of the CPU the device's.
  alignas(16) char cpu[16];
  EXPECT_THAT(Read(cpu, 16), HasSubstr("has no 16 bytes at"));
}

TEST_F(NpuDeviceTest, CopiesAreChecked) {
  char* const memory = static_cast<char*>(Allocate(64));
  EXPECT_EQ(Write(memory + 16, "inside"), absl::OkStatus());
  EXPECT_EQ(Read(memory + 16, 6), "inside");
  EXPECT_THAT(Message(Write(memory + 64, "x")), HasSubstr("has no 1 bytes"));
  EXPECT_THAT(Message(Write(memory + 48, std::string(17, 'x'))),
              HasSubstr("has no 17 bytes"));
  EXPECT_THAT(Message(Write(memory + 8, "x")),
              HasSubstr("is no multiple of 16"));
  EXPECT_THAT(Read(memory + 1, 1), HasSubstr("is no multiple of 16"));
  device_->Free(open_.device, memory);
  EXPECT_THAT(Read(memory, 1), HasSubstr("has no 1 bytes"));
}

TEST_F(NpuDeviceTest, QueuesWorkByThemselvesAndWaitForEachOther) {
  char* const memory = static_cast<char*>(Allocate(32));
  auto first = *device_->OpenStream(open_.device);
  auto second = *device_->OpenStream(open_.device);
  std::promise<void> may_copy;
  const std::shared_future<void> until = may_copy.get_future().share();
  device_->InjectFault([&](absl::string_view work) {
    if (work == "copy to the device") until.wait();
    return absl::OkStatus();
  });
  const std::string source = "0123456789abcdef";
  std::string through(16, '?'), back(16, '?');
  ASSERT_TRUE(first->CopyFromCpu(memory, source.data(), 16).ok());
  ASSERT_TRUE(second->WaitFor(*first->Record()).ok());
  ASSERT_TRUE(second->CopyToCpu(through.data(), memory, 16).ok());
  EXPECT_EQ(device_->copies_from_cpu(), 0) << "all of it is still to be done";
  ASSERT_TRUE(first->WaitFor(*second->Record()).ok());
  ASSERT_TRUE(first->CopyFromCpu(memory + 16, through.data(), 16).ok());
  ASSERT_TRUE(first->CopyToCpu(back.data(), memory + 16, 16).ok());
  may_copy.set_value();
  EXPECT_EQ(first->Synchronize(), absl::OkStatus());
  EXPECT_EQ(back, source);
  EXPECT_EQ(second->Synchronize(), absl::OkStatus());
}

TEST_F(NpuDeviceTest, AfterAnErrorNothingRunsUntilItWasTold) {
  char* const memory = static_cast<char*>(Allocate(16));
  auto stream = *device_->OpenStream(open_.device);
  auto other = *device_->OpenStream(open_.device);
  device_->InjectFault([](absl::string_view work) {
    return work == "copy to the device" ? absl::UnavailableError("no bus")
                                        : absl::OkStatus();
  });
  std::string bytes(16, 'a');
  ASSERT_TRUE(stream->CopyFromCpu(memory, bytes.data(), 16).ok());
  ASSERT_TRUE(stream->CopyToCpu(bytes.data(), memory, 16).ok());
  const auto event = *stream->Record();
  ASSERT_TRUE(other->WaitFor(event).ok());
  ASSERT_TRUE(other->CopyToCpu(bytes.data(), memory, 16).ok());
  EXPECT_EQ(event->Wait(), absl::UnavailableError("no bus"));
  EXPECT_EQ(other->Synchronize(), absl::UnavailableError("no bus"));
  EXPECT_EQ(stream->Synchronize(), absl::UnavailableError("no bus"));
  EXPECT_EQ(device_->copies_to_cpu(), 0);
  device_->InjectFault(nullptr);
  ASSERT_TRUE(stream->CopyFromCpu(memory, bytes.data(), 16).ok());
  EXPECT_EQ(stream->Synchronize(), absl::OkStatus());
  EXPECT_EQ(Read(memory, 16), bytes);
}

// As many threads allocate, copy and wait as they like.
TEST_F(NpuDeviceTest, ServesManyThreads) {
  const OpenDevice open = NpuDevice::Open(1 << 20);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&open, t] {
      auto* const api = static_cast<NpuDevice*>(open.api.get());
      auto stream = *api->OpenStream(open.device);
      for (int run = 0; run < 50; ++run) {
        void* const memory = *api->Allocate(open.device, 1000, 64);
        const std::string bytes(1000, static_cast<char>('a' + t));
        std::string back(1000, '?');
        ASSERT_TRUE(stream->CopyFromCpu(memory, bytes.data(), 1000).ok());
        ASSERT_TRUE(stream->CopyToCpu(back.data(), memory, 1000).ok());
        ASSERT_EQ(stream->Synchronize(), absl::OkStatus());
        ASSERT_EQ(back, bytes);
        api->Free(open.device, memory);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace ingot::example_npu
