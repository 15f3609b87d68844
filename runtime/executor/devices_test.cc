// Plans with devices that have memory of their own, at once and with streams
// that do nothing before somebody waits.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/annotate.h"
#include "base/status_macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/any.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/plan_maker.h"
#include "runtime/far_device.h"
#include "runtime/module.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr DataType kF32 = DataType::Float(32);

// The elements of the last argument, and those of the others.
absl::Status AddElements(const FarDevice& far,
                         const std::vector<void*>& addresses, int64_t size) {
  std::vector<float*> elements;
  for (void* address : addresses) {
    INGOT_ASSIGN_OR_RETURN(
        char* here, far.memory().Translate(address, size * sizeof(float)));
    elements.push_back(reinterpret_cast<float*>(here));
  }
  for (int64_t i = 0; i < size; ++i) {
    elements[2][i] = elements[0][i] + elements[1][i];
  }
  return absl::OkStatus();
}

// y = x + w of f32 on a far device, which is the function's handle.
int Add(void* handle, const TVMFFIAny* args, int32_t, TVMFFIAny*) {
  const auto* far = static_cast<const FarDevice*>(handle);
  std::vector<void*> addresses;
  for (int i = 0; i < 3; ++i) {
    const DLTensor& t = **AnyToTensor(args[i]);
    EXPECT_EQ(t.device.device_type, kDLExtDev);
    addresses.push_back(t.data);
  }
  const int64_t size = (*AnyToTensor(args[2]))->shape[0];
  FarDevice::Queue([=] {
    const absl::Status added = AddElements(*far, addresses, size);
    return added.ok() ? added : Annotate(added, "add");
  });
  return 0;
}

// A plan with tensors of [A] on the CPU and on two far devices.
class DevicePlan : public PlanMaker {
 public:
  DevicePlan() : PlanMaker(1) {
    for (const char* key : {"a", "b"}) {
      PlanDevice* device = plan()->add_devices();
      device->set_kind("far");
      device->set_target_key(key);
    }
  }

  uint32_t On(uint32_t device) {
    const uint32_t t = Tensor(kF32, {kSymbol});
    plan()->mutable_storage(plan()->tensors(t).storage())->set_device(device);
    return t;
  }
  // The constant w, of two elements, on a device.
  uint32_t ConstantOn(uint32_t device) {
    const uint32_t w = View(0, {2});
    PlanTensor* constant = plan()->mutable_tensors(w);
    constant->clear_view_of();
    constant->set_constant("w");
    constant->set_device(device);
    return w;
  }
  uint32_t Copy(uint32_t from, uint32_t to, uint32_t device) {
    PlanCall* call = Call("", {from}, {to});
    call->mutable_copy();
    call->set_device(device);
    return to;
  }
  uint32_t AddOn(uint32_t device, uint32_t x, uint32_t w) {
    const uint32_t y = On(device);
    Call(device == 1 ? "add" : "add_b", {x, w}, {y})->set_device(device);
    return y;
  }
};

// (x + w) + w on a far device, with x [A] and the result on the CPU.
Plan AddTwice() {
  DevicePlan maker;
  const uint32_t x = maker.Input(kF32, {kSymbol});
  const uint32_t w = maker.ConstantOn(1);
  const uint32_t there = maker.Copy(x, maker.On(1), 1);
  const uint32_t once = maker.AddOn(1, there, w);
  const uint32_t twice = maker.AddOn(1, once, w);
  maker.Output(maker.Copy(twice, maker.On(0), 1));
  return maker.Finish();
}

class DevicesTest : public ::testing::TestWithParam<FarDevice::Work> {
 protected:
  DevicesTest()
      : far_(MakeDevice(size_t{1} << 20)), other_(MakeDevice(1 << 20)) {}

  static std::shared_ptr<FarDevice> MakeDevice(size_t capacity) {
    return std::make_shared<FarDevice>(capacity, GetParam());
  }

  absl::StatusOr<std::unique_ptr<GraphExecutor>> Create(const Plan& plan) {
    auto host = std::make_shared<TableModule>("host");
    EXPECT_TRUE(host->Add("add", Function(&Add, far_.get(), far_)).ok());
    EXPECT_TRUE(host->Add("add_b", Function(&Add, other_.get(), other_)).ok());
    // The CPU's part: y = -x.
    auto negate = [this](absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
      copied_before_negate_.push_back(far_->copies_from_cpu());
      const DLTensor &x = **AnyToTensor(args[0]), &y = **AnyToTensor(args[1]);
      for (int64_t i = 0; i < x.shape[0]; ++i) {
        static_cast<float*>(y.data)[i] = -static_cast<const float*>(x.data)[i];
      }
      return absl::OkStatus();
    };
    EXPECT_TRUE(host->Add("negate", Function::FromLambda(negate)).ok());
    const auto constants = [](absl::string_view) -> absl::StatusOr<Tensor> {
      return Floats({10, 20});
    };
    options_.devices = {OpenDevice::Cpu(), FarDevice::Open(far_),
                        FarDevice::Open(other_)};
    return GraphExecutor::Create(SharePlan(plan), host, constants, options_);
  }

  static Tensor Floats(const std::vector<float>& values) {
    Tensor t = *Tensor::Empty(kF32, {static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), t.mutable_data<float>());
    return t;
  }

  // Runs a plan of one input three times, each of which gives these elements.
  void ExpectEachRun(const Plan& plan, const std::vector<float>& input,
                     const std::vector<float>& output) {
    auto executor = Create(plan);
    ASSERT_TRUE(executor.ok()) << executor.status();
    for (int run = 0; run < 3; ++run) {
      auto results = (*executor)->Run({Floats(input)});
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_EQ((*results)[0].values<float>(), output) << run;
    }
  }

  std::shared_ptr<FarDevice> far_, other_;
  ExecutorOptions options_;
  // How many copies there had been each time that the CPU negated.
  std::vector<int> copied_before_negate_;
};

INSTANTIATE_TEST_SUITE_P(All, DevicesTest,
                         ::testing::Values(FarDevice::Work::kAtOnce,
                                           FarDevice::Work::kLazily));

TEST_P(DevicesTest, CopiesOnlyWhatThePlanCopies) {
  {
    auto executor = Create(AddTwice());
    ASSERT_TRUE(executor.ok()) << executor.status();
    EXPECT_EQ(far_->copies_from_cpu(), 1) << "the constant, once";
    for (int run = 1; run <= 3; ++run) {
      auto results = (*executor)->Run({Floats({1, 2})});
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_THAT((*results)[0].values<float>(), ElementsAre(21, 42));
      EXPECT_EQ(far_->copies_from_cpu(), 1 + run);
      EXPECT_EQ(far_->copies_to_cpu(), run);
    }
    EXPECT_GT(far_->memory().bytes_in_use(), 0u);
  }
  EXPECT_EQ(far_->memory().bytes_in_use(), 0u);
}

// x goes to one device, from there to the other and back, without work on the
// CPU between: only streams wait for each other.
TEST_P(DevicesTest, DevicesMeet) {
  DevicePlan maker;
  const uint32_t x = maker.Input(kF32, {kSymbol});
  const uint32_t w = maker.ConstantOn(1), w_b = maker.ConstantOn(2);
  const uint32_t there = maker.Copy(x, maker.On(1), 1);
  const uint32_t a = maker.Copy(maker.AddOn(1, there, w), maker.On(0), 1);
  const uint32_t on_b = maker.AddOn(2, maker.Copy(a, maker.On(2), 2), w_b);
  const uint32_t b = maker.Copy(on_b, maker.On(0), 2);
  const uint32_t again = maker.AddOn(1, maker.Copy(b, maker.On(1), 1), w);
  maker.Output(maker.Copy(again, maker.On(0), 1));
  ExpectEachRun(maker.Finish(), {1, 2}, {31, 62});
}

TEST_P(DevicesTest, TheCpuWorksWhileCopiesAreUnderWay) {
  DevicePlan maker;
  const uint32_t x = maker.Input(kF32, {kSymbol});
  const uint32_t w = maker.ConstantOn(1);
  const uint32_t there = maker.Copy(x, maker.On(1), 1);
  maker.Call("negate", {x}, {maker.On(0)});
  const uint32_t back = maker.Copy(maker.AddOn(1, there, w), maker.On(0), 1);
  const uint32_t y = maker.On(0);
  maker.Call("negate", {back}, {y});
  maker.Output(y);
  ExpectEachRun(maker.Finish(), {1, 2}, {-11, -22});
  // The constant was copied before, and then something in each run.
  if (GetParam() == FarDevice::Work::kLazily) {
    EXPECT_THAT(copied_before_negate_, ElementsAre(1, 2, 2, 3, 3, 4));
  }
}

TEST_P(DevicesTest, TheCpuWritesAfterCopiesHaveRead) {
  DevicePlan maker;
  const uint32_t x = maker.Input(kF32, {kSymbol});
  const uint32_t w = maker.ConstantOn(1);
  const uint32_t minus = maker.On(0), plus = maker.On(0);
  maker.plan()->mutable_tensors(plus)->set_storage(
      maker.plan()->tensors(minus).storage());
  const uint32_t elsewhere = maker.On(0);
  maker.Call("negate", {x}, {minus});
  maker.Call("negate", {x}, {elsewhere});
  const uint32_t there = maker.Copy(minus, maker.On(1), 1);
  maker.Call("negate", {elsewhere}, {plus});
  maker.Output(maker.Copy(maker.AddOn(1, there, w), maker.On(0), 1));
  ExpectEachRun(maker.Finish(), {1, 2}, {9, 18});
}

TEST_P(DevicesTest, ObserversSeeCopies) {
  std::vector<float> seen;
  options_.observer = [&](const PlanCall&,
                          absl::Span<const DLTensor* const> args) {
    EXPECT_EQ(args[2]->device.device_type, kDLCPU);
    seen.push_back(static_cast<const float*>(args[2]->data)[1]);
    return absl::OkStatus();
  };
  auto executor = Create(AddTwice());
  ASSERT_TRUE(executor.ok()) << executor.status();
  ASSERT_TRUE((*executor)->Run({Floats({1, 2})}).ok());
  EXPECT_THAT(seen, ElementsAre(22, 42));
}

TEST_P(DevicesTest, FullMemoryIsAnErrorAndTheExecutorGoesOn) {
  far_ = MakeDevice(1 << 10);
  auto executor = Create(AddTwice());
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto large = (*executor)->Run({Floats(std::vector<float>(4096))});
  EXPECT_EQ(large.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(large.status().message()),
              HasSubstr("the far device has no memory"));
  auto results = (*executor)->Run({Floats({1, 2})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT((*results)[0].values<float>(), ElementsAre(21, 42));
}

TEST_P(DevicesTest, AFailingFunctionIsNamedAndTheExecutorGoesOn) {
  auto executor = Create(AddTwice());
  ASSERT_TRUE(executor.ok()) << executor.status();
  for (int again = 0; again < 2; ++again) {
    // The constant has two elements, and three are read.
    auto results = (*executor)->Run({Floats({1, 2, 3})});
    EXPECT_THAT(std::string(results.status().message()),
                HasSubstr("add: the far device has no 12 bytes"));
    results = (*executor)->Run({Floats({1, 2})});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_THAT((*results)[0].values<float>(), ElementsAre(21, 42));
  }
}

TEST_P(DevicesTest, ProfilesAndErrorsOfProfiledRunsNameTheCall) {
  Profiler profiler;
  options_.profiler = &profiler;
  auto executor = Create(AddTwice());
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto results = (*executor)->Run({Floats({1, 2, 3})});
  EXPECT_THAT(std::string(results.status().message()),
              HasSubstr("call 1 (add): add: the far device has no 12 bytes"));
}

TEST_P(DevicesTest, ACopyHasAsManyBytesAsItsSource) {
  Plan plan = AddTwice();
  const int back = plan.tensors_size() - 1;
  *plan.mutable_types(back)->mutable_shape(0) = Dim(5);
  PlanStorage* storage =
      plan.mutable_storage(static_cast<int>(plan.tensors(back).storage()));
  storage->clear_bytes();
  *storage->add_bytes() = Dim(20);
  auto executor = Create(plan);
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto results = (*executor)->Run({Floats({1, 2})});
  EXPECT_THAT(std::string(results.status().message()),
              HasSubstr("call 3 (copy): a copy of 8 bytes does not fit in 20"));
}

}  // namespace
}  // namespace ingot
