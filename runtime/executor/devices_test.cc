// Plans with a device that has memory of its own.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/any.h"
#include "runtime/error.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/plan_maker.h"
#include "runtime/far_device.h"
#include "runtime/module.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr DataType kF32 = DataType::Float(32);

// y = x + w of f32 on a far device, which is the function's handle.
int Add(void* handle, const TVMFFIAny* args, int32_t count, TVMFFIAny*) {
  const auto* far = static_cast<const FarDevice*>(handle);
  float* elements[3];
  const int64_t size = (*AnyToTensor(args[2]))->shape[0];
  for (int i = 0; i < 3; ++i) {
    const DLTensor& t = **AnyToTensor(args[i]);
    auto here = far->Translate(t.data, size * sizeof(float));
    if (count != 3 || t.device.device_type != kDLExtDev || !here.ok()) {
      SetLastError("ValueError", std::string(here.status().message()));
      return -1;
    }
    elements[i] = static_cast<float*>(*here);
  }
  for (int64_t i = 0; i < size; ++i) {
    elements[2][i] = elements[0][i] + elements[1][i];
  }
  return 0;
}

// (x + w) + w on the far device, with x [N] and the result on the CPU.
Plan AddTwice() {
  PlanMaker maker(1);
  PlanDevice* device = maker.plan()->add_devices();
  device->set_kind("far");
  device->set_target_key("npu");
  const uint32_t x = maker.Input(kF32, {kSymbol});
  const uint32_t there = maker.Tensor(kF32, {kSymbol});
  const uint32_t once = maker.Tensor(kF32, {kSymbol});
  const uint32_t twice = maker.Tensor(kF32, {kSymbol});
  const uint32_t back = maker.Tensor(kF32, {kSymbol});
  for (const uint32_t t : {there, once, twice}) {
    const auto storage = maker.plan()->tensors(t).storage();
    maker.plan()->mutable_storage(storage)->set_device(1);
  }
  const uint32_t w = maker.View(x, {kSymbol});  // becomes a constant
  PlanTensor* constant = maker.plan()->mutable_tensors(w);
  constant->clear_view_of();
  constant->set_constant("w");
  constant->set_device(1);
  *constant->mutable_shape(0) = Dim(2);
  const auto on_far = [](PlanCall* call) { call->set_device(1); };
  PlanCall* in = maker.Call("", {x}, {there});
  in->mutable_copy();
  on_far(in);
  on_far(maker.Call("add", {there, w}, {once}));
  on_far(maker.Call("add", {once, w}, {twice}));
  PlanCall* out = maker.Call("", {twice}, {back});
  out->mutable_copy();
  on_far(out);
  maker.Output(back);
  return maker.Finish();
}

class DevicesTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<GraphExecutor>> Create(const Plan& plan) {
    auto host = std::make_shared<TableModule>("host");
    EXPECT_TRUE(host->Add("add", Function(&Add, far_.get(), far_)).ok());
    const auto constants = [](absl::string_view) -> absl::StatusOr<Tensor> {
      Tensor w = *Tensor::Empty(kF32, {2});
      w.mutable_data<float>()[0] = 10;
      w.mutable_data<float>()[1] = 20;
      return w;
    };
    options_.devices = {OpenDevice::Cpu(), FarDevice::Open(far_)};
    return GraphExecutor::Create(plan, host, constants, options_);
  }

  static Tensor Floats(const std::vector<float>& values) {
    Tensor t = *Tensor::Empty(kF32, {static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), t.mutable_data<float>());
    return t;
  }

  std::shared_ptr<FarDevice> far_ = std::make_shared<FarDevice>();
  ExecutorOptions options_;
};

TEST_F(DevicesTest, CopiesOnlyWhatThePlanCopies) {
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
    EXPECT_GT(far_->bytes_in_use(), 0u);
  }
  EXPECT_EQ(far_->bytes_in_use(), 0u);
}

TEST_F(DevicesTest, ObserversSeeCopies) {
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

TEST_F(DevicesTest, FullMemoryIsAnErrorAndTheExecutorGoesOn) {
  far_ = std::make_shared<FarDevice>(1 << 10);
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

TEST_F(DevicesTest, AFailingFunctionIsNamed) {
  auto executor = Create(AddTwice());
  ASSERT_TRUE(executor.ok()) << executor.status();
  // The constant has two elements, and three are read.
  const auto results = (*executor)->Run({Floats({1, 2, 3})});
  EXPECT_THAT(std::string(results.status().message()),
              HasSubstr("call 1 (add): the far device has no 12 bytes"));
}

TEST_F(DevicesTest, ACopyHasAsManyBytesAsItsSource) {
  Plan plan = AddTwice();
  *plan.mutable_tensors(4)->mutable_shape(0) = Dim(5);
  plan.mutable_storage(3)->clear_bytes();
  *plan.mutable_storage(3)->add_bytes() = Dim(20);
  auto executor = Create(plan);
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto results = (*executor)->Run({Floats({1, 2})});
  EXPECT_THAT(std::string(results.status().message()),
              HasSubstr("call 3 (copy): a copy of 8 bytes does not fit in 20"));
}

}  // namespace
}  // namespace ingot
