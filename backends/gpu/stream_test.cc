// Streams of a GPU, on a driver of ours whose streams do nothing before
// somebody waits for them.
#include "backends/gpu/stream.h"

#include <memory>
#include <string>
#include <utility>

#include "backends/gpu/device.h"
#include "backends/gpu/testing/open_fake_driver.h"
#include "gtest/gtest.h"

namespace ingot::gpu {
namespace {

constexpr size_t kBytes = 8;

class StreamTest : public testing_support::FakeDriverTest {
 protected:
  StreamTest() : FakeDriverTest("libcuda.so.1") {}

  void SetUp() override {
    FakeDriverTest::SetUp();
    if (HasFatalFailure()) return;
    auto on = GpuDevice::Open(kCuda);
    ASSERT_TRUE(on.ok()) << on.status();
    on_ = *std::move(on);
    memory_ = *on_.api->Allocate(on_.device, kBytes, 8);
  }
  void TearDown() override {
    on_.api->Free(on_.device, memory_);
    on_ = {};
    FakeDriverTest::TearDown();
  }

  std::unique_ptr<DeviceStream> Open() {
    auto stream = OpenStream(on_);
    EXPECT_TRUE(stream.ok()) << stream.status();
    return *std::move(stream);
  }

  OpenDevice on_;
  void* memory_ = nullptr;
};

TEST_F(StreamTest, QueueWorkByThemselvesAndWaitForEachOther) {
  const auto one = Open(), other = Open();
  EXPECT_EQ(streams_(), 3);  // and the device's own
  char back[kBytes] = "before";
  ASSERT_TRUE(one->CopyFromCpu(memory_, "written", kBytes).ok());
  const auto written = one->Record();
  ASSERT_TRUE(written.ok()) << written.status();
  ASSERT_TRUE(other->WaitFor(*written).ok());
  ASSERT_TRUE(other->CopyToCpu(back, memory_, kBytes).ok());
  EXPECT_STREQ(log_(), "");
  EXPECT_STREQ(back, "before");
  ASSERT_TRUE(other->Synchronize().ok());
  EXPECT_STREQ(log_(), "to device 8\nto host 8\n");
  EXPECT_STREQ(back, "written");
}

TEST_F(StreamTest, AnEventIsAMoment) {
  const auto stream = Open();
  ASSERT_TRUE(stream->CopyFromCpu(memory_, "written", kBytes).ok());
  const auto first = stream->Record();
  ASSERT_TRUE(first.ok()) << first.status();
  char back[kBytes] = "before";
  ASSERT_TRUE(stream->CopyToCpu(back, memory_, kBytes).ok());
  ASSERT_TRUE((*first)->Wait().ok());
  EXPECT_STREQ(log_(), "to device 8\n");
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_STREQ(back, "written");
}

// PyTorch and CUDA's own libraries go on with the device that they had.
TEST_F(StreamTest, TheThreadKeepsItsDevice) {
  auto& device = static_cast<GpuDevice&>(*on_.api);
  const Driver& driver = device.driver();
  int another = 0;
  for (const Context theirs : {Context{&another}, Context{nullptr}}) {
    ASSERT_EQ(driver.SetContext(theirs), 0);
    char back[kBytes] = "before";
    void* const memory = *device.Allocate(on_.device, kBytes, 8);
    ASSERT_TRUE(device.CopyFromCpu(on_.device, memory, "written", kBytes).ok());
    {
      const auto stream = Open();
      ASSERT_TRUE(stream->CopyToCpu(back, memory, kBytes).ok());
      const auto event = stream->Record();
      ASSERT_TRUE(event.ok()) << event.status();
      ASSERT_TRUE((*event)->Wait().ok());
    }
    device.Free(on_.device, memory);
    EXPECT_STREQ(back, "written");
    Context now = &another;
    ASSERT_EQ(driver.GetContext(&now), 0);
    EXPECT_EQ(now, theirs);
  }
}

// Another device's work is waited for on the CPU, since the driver does not
// know of it.
TEST_F(StreamTest, WaitsForOtherDevices) {
  struct Elsewhere final : DeviceEvent {
    absl::Status Wait() override {
      ++waits;
      return absl::InternalError("it is broken");
    }
    int waits = 0;
  };
  const auto event = std::make_shared<Elsewhere>();
  EXPECT_EQ(Open()->WaitFor(event).message(), "it is broken");
  EXPECT_EQ(event->waits, 1);
}

TEST_F(StreamTest, AfterAnErrorNothingRunsUntilItWasTold) {
  const auto stream = Open();
  auto& device = static_cast<GpuDevice&>(*on_.api);
  const auto code = device.LoadCode(
      ".version 6.0\n.visible .entry f(\n.param .u64 f_param_0\n)", nullptr);
  ASSERT_TRUE(code.ok()) << code.status();
  const auto kernel = device.FindKernel(*code, {"f"}, 1);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  log_();
  fail_("kernel", 700);
  {
    const ScopedDeviceStream scope(stream.get());
    void* const arguments[] = {memory_};
    ASSERT_TRUE(device.Run(*kernel, {"f", 1, 1}, arguments).ok());
  }
  const auto event = stream->Record();
  ASSERT_TRUE(event.ok()) << event.status();
  ASSERT_TRUE(stream->CopyFromCpu(memory_, "written", kBytes).ok());
  const std::string message =
      "work on Fake GPU up to kernel f: an illegal memory access was "
      "encountered (700)";
  EXPECT_EQ((*event)->Wait().message(), message);
  EXPECT_EQ(stream->Synchronize().message(), message);
  EXPECT_STREQ(log_(), "");
  ASSERT_TRUE(stream->CopyFromCpu(memory_, "written", kBytes).ok());
  EXPECT_TRUE(stream->Synchronize().ok());
  EXPECT_STREQ(log_(), "to device 8\n");
  device.UnloadCode(*code);
}

TEST_F(StreamTest, ThatCannotBeMadeIsAnError) {
  fail_("cuStreamCreate", 2);
  const auto stream = OpenStream(on_);
  EXPECT_EQ(stream.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(stream.status().message(), "making a stream: out of memory (2)");
}

}  // namespace
}  // namespace ingot::gpu
