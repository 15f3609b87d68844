// Functions of regions on a driver of ours: which memory their calls get, and
// who else may queue while they do.
#include "backends/library_calls/run_region.h"

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "backends/gpu/testing/open_fake_driver.h"
#include "gtest/gtest.h"
#include "runtime/device_stream.h"

namespace ingot::library_calls {
namespace {

class RunRegion : public testing_support::FakeDriverTest {
 protected:
  RunRegion() : FakeDriverTest("libcuda.so.1") {}

  void SetUp() override {
    FakeDriverTest::SetUp();
    if (HasFatalFailure()) return;
    auto on = gpu::GpuDevice::Open(gpu::kCuda);
    ASSERT_TRUE(on.ok()) << on.status();
    on_ = *std::move(on);
  }
  void TearDown() override {
    on_ = {};
    FakeDriverTest::TearDown();
  }

  // A function without arguments, with memory for two values of its own.
  Function FunctionOf(QueueCalls queue) const {
    Region region;
    region.name = "f";
    region.temporaries = {100, 50};
    auto device = CudaDevice::Open(on_, "a library");
    EXPECT_TRUE(device.ok()) << device.status();
    return RegionFunction(region, /*workspace_bytes=*/0, *device,
                          std::move(queue))
        .function;
  }

  static absl::Status Call(const Function& function) {
    return function.Call(absl::Span<DLTensor* const>());
  }

  OpenDevice on_;
};

// Executors come and go while their code stays.
TEST_F(RunRegion, MemoryOfAStreamIsTheNextOnesWhenItIsGone) {
  std::set<const float*> places;
  const Function function =
      FunctionOf([&](absl::Span<float* const> values, gpu::Stream) {
        places.insert(values[0]);
        return absl::OkStatus();
      });
  const auto one = OpenStream(on_);
  ASSERT_TRUE(one.ok()) << one.status();
  {
    const ScopedDeviceStream scope(one->get());
    ASSERT_TRUE(Call(function).ok());
  }
  const int held = held_();
  for (int i = 0; i < 3; ++i) {
    const auto other = OpenStream(on_);
    ASSERT_TRUE(other.ok()) << other.status();
    const ScopedDeviceStream scope(other->get());
    ASSERT_TRUE(Call(function).ok());
    ASSERT_TRUE(Call(function).ok());
  }
  EXPECT_EQ(places.size(), 2u);
  EXPECT_EQ(held_(), held + 1);
}

// Those who are no executors share a stream, and the memory of its work.
TEST_F(RunRegion, CallsOfARegionStayTogetherOnAStream) {
  std::atomic<int> inside = 0, most = 0;
  const Function function =
      FunctionOf([&](absl::Span<float* const>, gpu::Stream) {
        most = std::max<int>(most, ++inside);
        absl::SleepFor(absl::Milliseconds(20));
        --inside;
        return absl::OkStatus();
      });
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] { EXPECT_TRUE(Call(function).ok()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace ingot::library_calls
