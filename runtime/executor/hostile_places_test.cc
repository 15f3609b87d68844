// Plans that put values where they must not be: none may crash the process.

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/executor/hostile_plans.h"
#include "runtime/plan/phases.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

// Adds a view of tensor `of` with a type of its own, which is the same; its
// index, which is also the type's.
int AddView(Plan* plan, int of, const std::string& name) {
  const PlanTensor viewed = plan->tensors(of);
  PlanTensor* view = plan->add_tensors();
  *view = viewed;
  view->set_name(name);
  view->set_view_of(of);
  view->set_type(static_cast<uint32_t>(plan->types_size()));
  const PlanType type = plan->types(static_cast<int>(viewed.type()));
  *plan->add_types() = type;
  return plan->tensors_size() - 1;
}

TEST(HostilePlaces, ViewsOfInputs) {
  Plan plan = GoodPlan();
  PlanType* view = plan.mutable_types(AddView(&plan, 0, "view"));
  *view->add_shape() = Const(1);
  plan.mutable_calls(0)->set_args(0, 4);
  EXPECT_TRUE(CreateAndRun(plan, 5).ok());
  *view->mutable_shape(1) = Const(2);
  EXPECT_THAT(std::string(CreateAndRun(plan, 5).message()),
              HasSubstr("tensor 'view': 'x', which is f32[5], cannot be seen "
                        "as f32[5, 2]"));
  *view->mutable_shape(1) = Const(1);
  view->mutable_dtype()->set_bits(16);
  EXPECT_THAT(std::string(CreateAndRun(plan, 5).message()),
              HasSubstr("a view of 'x', which has another type"));
}

// Other bits than 0 and 1 would be no bools.
TEST(HostilePlaces, BoolsAreViewsOfBoolsAlone) {
  Plan plan = GoodPlan();
  PlanType* view = plan.mutable_types(AddView(&plan, 0, "view"));
  plan.mutable_types(0)->mutable_dtype()->set_code(1);
  plan.mutable_types(0)->mutable_dtype()->set_bits(8);
  view->mutable_dtype()->set_code(6);
  view->mutable_dtype()->set_bits(8);
  EXPECT_THAT(std::string(CreateAndRun(plan, 5).message()),
              HasSubstr("a view of 'x', which has another type"));
}

// A constant's bytes are compared with those of the tensor that it names, so
// views must lead to one.
TEST(HostilePlaces, ViewsOfThemselves) {
  ExpectError([](Plan* p) { p->mutable_tensors(1)->set_view_of(1); },
              absl::StatusCode::kInvalidArgument,
              "tensor 'w': it is a view of tensor 1, which does not come "
              "before it");
  ExpectError(
      [](Plan* p) {
        AddView(p, 1, "other");
        p->mutable_tensors(1)->set_view_of(4);
        *p->mutable_types(1)->mutable_shape(0) = Const(1 << 20);
      },
      absl::StatusCode::kInvalidArgument,
      "tensor 'w': it is a view of tensor 4, which does not come before it");
  ExpectError([](Plan* p) { p->mutable_tensors(1)->set_view_of(99); },
              absl::StatusCode::kInvalidArgument,
              "tensor 'w': it is a view of tensor 99");
}

// Each in a chain of views has the size of the one before it.
TEST(HostilePlaces, ViewsOfViews) {
  Plan plan = GoodPlan();
  AddView(&plan, 1, "view0");
  AddView(&plan, 4, "view1");
  *plan.mutable_types(4)->mutable_shape(0) = Times(1);
  *plan.mutable_types(5)->mutable_shape(0) = Times(2);
  plan.mutable_calls(0)->set_args(1, 5);
  EXPECT_THAT(std::string(CreateAndRun(plan, 4).message()),
              HasSubstr("tensor 'view1': 'view0', which is f32[4], cannot be "
                        "seen as f32[8]"));
  *plan.mutable_types(5)->mutable_shape(0) = Times(1);
  EXPECT_TRUE(CreateAndRun(plan, 4).ok());
  EXPECT_THAT(std::string(CreateAndRun(plan, 5).message()),
              HasSubstr("tensor 'view0': 'w', which is f32[4], cannot be seen "
                        "as f32[5]"));
  // A view of a fixed shape needs the symbols of what it is a view of.
  *plan.mutable_types(5)->mutable_shape(0) = Const(5);
  EXPECT_TRUE(absl::IsInvalidArgument(CreateAndRun(plan, 5)));
}

// 'y' and 'z' as parts of one tensor in z's storage.
Plan PlanOfParts() {
  Plan plan = GoodPlan();
  // The whole comes first: what was the constant 'w' is in storage.
  PlanTensor* whole = plan.mutable_tensors(1);
  whole->set_name("whole");
  whole->set_storage(1);
  *plan.mutable_types(1)->mutable_shape(0) = Const(12);
  *plan.mutable_storage(1)->mutable_bytes(0) = Const(48);
  PlanTensor* y = plan.mutable_tensors(2);
  y->set_part_of(1);
  y->set_offset(32);
  *plan.mutable_types(2)->mutable_shape(0) = Const(4);
  plan.mutable_tensors(3)->set_part_of(1);
  plan.mutable_calls(0)->set_args(1, 0);
  plan.set_outputs(0, 1);
  AssignPhases(&plan);
  return plan;
}

TEST(HostilePlaces, PartsLieInTheirWhole) {
  EXPECT_TRUE(CreateAndRun(PlanOfParts(), 4).ok())
      << CreateAndRun(PlanOfParts(), 4);
  const auto expect = [](const std::function<void(Plan*)>& change,
                         absl::string_view text) {
    Plan plan = PlanOfParts();
    change(&plan);
    EXPECT_THAT(std::string(CreateAndRun(plan, 4).message()), HasSubstr(text));
  };
  for (const uint64_t offset : {uint64_t{36}, uint64_t{52}, ~uint64_t{3}}) {
    expect([&](Plan* p) { p->mutable_tensors(2)->set_offset(offset); },
           "tensor 'y': f32[4] at offset");
  }
  expect([](Plan* p) { p->mutable_tensors(2)->set_offset(30); },
         "tensor 'y': its offset 30 is not a multiple of its element's size");
  expect([](Plan* p) { p->mutable_tensors(2)->set_offset(28); },
         "'y' and 'z' overlap, and it writes one of them");
  expect([](Plan* p) { p->mutable_calls(0)->set_args(1, 2); },
         "it reads 'y' before any call wrote it");
  expect([](Plan* p) { p->mutable_tensors(2)->set_part_of(2); },
         "it is a part of tensor 2, which does not come before it");
  expect([](Plan* p) { p->mutable_tensors(2)->set_part_of(7); },
         "it is a part of tensor 7");
  expect([](Plan* p) { p->mutable_types(2)->mutable_dtype()->set_code(0); },
         "it is a part of 'whole', which has another type");
  // Nothing writes to inputs.
  expect([](Plan* p) { p->mutable_tensors(2)->set_part_of(0); },
         "it writes 'y', which is not in storage");
}

TEST(HostilePlaces, OtherDevices) {
  ExpectError([](Plan* p) { p->mutable_devices(0)->set_kind("opencl"); },
              absl::StatusCode::kInvalidArgument, "its first device is no cpu");
  ExpectError([](Plan* p) { p->clear_devices(); },
              absl::StatusCode::kInvalidArgument, "its first device is no cpu");
  ExpectError([](Plan* p) { p->add_devices()->set_kind("cpu"); },
              absl::StatusCode::kInvalidArgument, "device 1 is of kind 'cpu'");
  ExpectError([](Plan* p) { p->add_devices()->set_kind("far"); },
              absl::StatusCode::kInvalidArgument,
              "device 1 serves no target key");
  const auto add_far = [](Plan* p) {
    PlanDevice* device = p->add_devices();
    device->set_kind("far");
    device->set_target_key("npu");
  };
  ExpectError(
      [&](Plan* p) {
        add_far(p);
        add_far(p);
      },
      absl::StatusCode::kInvalidArgument,
      "two devices serve the target key 'npu'");
  ExpectError(
      [&](Plan* p) {
        add_far(p);
        p->mutable_devices(1)->add_shared_by("npu");
      },
      absl::StatusCode::kInvalidArgument,
      "two devices serve the target key 'npu'");
  ExpectError(
      [&](Plan* p) {
        add_far(p);
        p->mutable_devices(1)->add_shared_by("");
      },
      absl::StatusCode::kInvalidArgument, "device 1 serves no target key");
  ExpectError(
      [&](Plan* p) {
        for (int i = 0; i < 100; ++i) add_far(p);
      },
      absl::StatusCode::kInvalidArgument, "it has 101 devices");
  ExpectError(add_far, absl::StatusCode::kFailedPrecondition,
              "the plan needs a device of kind 'far' for the target key 'npu'");
  ExpectError(
      [&](Plan* p) {
        add_far(p);
        p->mutable_calls(0)->set_device(1);
      },
      absl::StatusCode::kInvalidArgument, "is on device 0, not on 1");
  ExpectError(
      [&](Plan* p) {
        add_far(p);
        p->mutable_storage(0)->set_device(1);
      },
      absl::StatusCode::kInvalidArgument, "is on device 1, not on 0");
  ExpectError([](Plan* p) { p->mutable_tensors(0)->set_device(1); },
              absl::StatusCode::kInvalidArgument, "cannot be on device 1");
  ExpectError([](Plan* p) { p->mutable_calls(0)->set_device(1); },
              absl::StatusCode::kInvalidArgument,
              "call 0 (touch): it is on device 1 of 1");
  ExpectError([](Plan* p) { p->mutable_storage(1)->set_device(7); },
              absl::StatusCode::kInvalidArgument,
              "storage 1: it is on device 7 of 1");
}

TEST(HostilePlaces, ResultsThatOverlap) {
  // Both results in one place; then the second half of one in the other.
  ExpectError(
      [](Plan* p) {
        p->mutable_tensors(2)->set_storage(1);
        *p->mutable_storage(1)->mutable_bytes(0) = Const(64);
      },
      absl::StatusCode::kInvalidArgument,
      "call 0 (touch): 'z' and 'y' overlap, and it writes one of them");
  const auto apart = [](uint64_t offset) {
    return [offset](Plan* p) {
      p->mutable_tensors(2)->set_storage(1);
      p->mutable_tensors(2)->set_offset(offset);
      *p->mutable_storage(1)->mutable_bytes(0) = Const(64);
    };
  };
  ExpectError(apart(28), absl::StatusCode::kInvalidArgument, "overlap");
  Plan plan = GoodPlan();
  apart(32)(&plan);
  EXPECT_TRUE(CreateAndRun(plan, 5).ok());
  // Nothing overlaps what has no elements.
  apart(0)(&plan);
  EXPECT_TRUE(CreateAndRun(plan, 0).ok());

  // A result where an operand is.
  plan = GoodPlan();
  *plan.add_calls() = plan.calls(0);
  plan.mutable_calls(1)->set_args(0, 3);
  EXPECT_THAT(std::string(CreateAndRun(plan, 5).message()),
              HasSubstr("call 1 (touch): 'z' and 'z' overlap"));
}

}  // namespace
}  // namespace ingot
