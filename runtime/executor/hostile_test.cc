// Plans that come from someone who wishes us ill: none may crash the process.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Plan GoodPlan() {
  Plan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        version: 5
        devices { kind: "cpu" }
        symbols { name: "N" }
        tensors {
          name: "x"
          dtype { code: 2 bits: 32 }
          shape { op: SYMBOL }
          input: 0
        }
        tensors {
          name: "w"
          dtype { code: 2 bits: 32 }
          shape { value: 4 }
          constant: "w"
        }
        tensors {
          name: "y"
          dtype { code: 2 bits: 32 }
          shape { op: SYMBOL }
          storage: 0
        }
        tensors {
          name: "z"
          dtype { code: 2 bits: 32 }
          shape { value: 8 }
          storage: 1
        }
        inputs: 0
        outputs: [ 2, 3 ]
        storage {
          bytes {
            op: MUL
            operands { op: SYMBOL }
            operands { value: 4 }
          }
        }
        storage { bytes { value: 32 } }
        calls {
          function: "touch"
          args: [ 0, 1, 2, 3 ]
          num_outputs: 2
        }
      )pb",
      &plan));
  AssignPhases(&plan);
  return plan;
}

// Writes every byte of its arguments, so that a sanitizer sees a wrong one.
std::shared_ptr<Module> Touch() {
  auto module = std::make_shared<TableModule>("touch");
  EXPECT_TRUE(
      module
          ->Add("touch", Function::FromLambda(
                             [](absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
                               for (const TVMFFIAny& arg : args.subspan(2)) {
                                 DLTensor* dl = *AnyToTensor(arg);
                                 int64_t n = 1;
                                 for (int i = 0; i < dl->ndim; ++i) {
                                   n *= dl->shape[i];
                                 }
                                 for (int64_t i = 0; i < n; ++i) {
                                   static_cast<float*>(dl->data)[i] = 1;
                                 }
                               }
                               return absl::OkStatus();
                             }))
          .ok());
  return module;
}

absl::StatusOr<Tensor> FourFloats(absl::string_view) {
  return Tensor::Empty(DataType::Float(32), {4});
}

absl::Status CreateAndRun(const Plan& plan, int64_t n,
                          const ConstantLookup& constants = FourFloats,
                          std::shared_ptr<Module> module = Touch(),
                          ExecutorOptions options = {}) {
  INGOT_ASSIGN_OR_RETURN(
      auto executor,
      GraphExecutor::Create(SharePlan(plan), module, constants, options));
  return executor->Run({*Tensor::Empty(DataType::Float(32), {n})}).status();
}

void ExpectError(const std::function<void(Plan*)>& change,
                 absl::StatusCode code, const std::string& text) {
  Plan plan = GoodPlan();
  change(&plan);
  const absl::Status status = CreateAndRun(plan, 5);
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(text));
}

DimExpr Const(int64_t value) {
  DimExpr expr;
  expr.set_value(value);
  return expr;
}

DimExpr Times(int64_t factor) {
  DimExpr expr;
  expr.set_op(DimExpr::MUL);
  expr.add_operands()->set_op(DimExpr::SYMBOL);
  *expr.add_operands() = Const(factor);
  return expr;
}

TEST(HostilePlan, TheBaseIsFine) {
  EXPECT_TRUE(CreateAndRun(GoodPlan(), 5).ok());
  EXPECT_TRUE(CreateAndRun(GoodPlan(), 0).ok());
}

TEST(HostilePlan, ChecksComeFirst) {
  ExpectError([](Plan* p) { p->mutable_calls(0)->set_args(0, 99); },
              absl::StatusCode::kInvalidArgument, "tensor 99 of 4");
}

TEST(HostilePlan, StorageTooSmall) {
  ExpectError(
      [](Plan* p) { *p->mutable_storage(1)->mutable_bytes(0) = Const(31); },
      absl::StatusCode::kInvalidArgument,
      "tensor 'z': f32[8] at offset 0 does not fit in storage 1 of 31 bytes");
  ExpectError(
      [](Plan* p) { *p->mutable_storage(0)->mutable_bytes(0) = Const(16); },
      absl::StatusCode::kInvalidArgument,
      "tensor 'y': f32[5] at offset 0 does not fit in storage 0 of 16 bytes");
  ExpectError([](Plan* p) { p->mutable_storage(1)->clear_bytes(); },
              absl::StatusCode::kInvalidArgument, "storage 1 of 0 bytes");
  ExpectError([](Plan* p) { p->mutable_tensors(3)->set_offset(4); },
              absl::StatusCode::kInvalidArgument, "at offset 4 does not fit");
  ExpectError(
      [](Plan* p) { p->mutable_tensors(3)->set_offset(uint64_t(0) - 32); },
      absl::StatusCode::kInvalidArgument, "does not fit");
}

TEST(HostilePlan, StaticPlansFailAtOnce) {
  Plan plan = GoodPlan();
  plan.clear_symbols();
  plan.mutable_phases(0)->clear_symbols();
  *plan.mutable_tensors(0)->mutable_shape(0) = Const(5);
  *plan.mutable_tensors(2)->mutable_shape(0) = Const(5);
  *plan.mutable_storage(0)->mutable_bytes(0) = Const(16);
  EXPECT_EQ(GraphExecutor::Create(SharePlan(plan), Touch(), FourFloats)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(HostilePlan, NegativeStorageIsNone) {
  ExpectError(
      [](Plan* p) { *p->mutable_storage(1)->mutable_bytes(0) = Const(-32); },
      absl::StatusCode::kInvalidArgument, "storage 1 of 0 bytes");
}

TEST(HostilePlan, HugeStorage) {
  ExpectError(
      [](Plan* p) { *p->mutable_storage(1)->mutable_bytes(0) = Const(kMax); },
      absl::StatusCode::kResourceExhausted, "more than the limit");
  ExpectError(
      [](Plan* p) {
        for (int i = 0; i < 8; ++i) {
          *p->add_storage()->add_bytes() = Const(int64_t{1} << 39);
        }
      },
      absl::StatusCode::kResourceExhausted, "more than the limit");
  // Without a limit the sum must not wrap.
  Plan plan = GoodPlan();
  for (int i = 0; i < 8; ++i) *plan.add_storage()->add_bytes() = Const(kMax);
  ExecutorOptions options;
  options.max_storage_bytes = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(CreateAndRun(plan, 5, FourFloats, Touch(), options).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(HostilePlan, StorageLimit) {
  ExecutorOptions options;
  options.max_storage_bytes = 96;  // y's 64 after rounding, z's 32
  EXPECT_TRUE(CreateAndRun(GoodPlan(), 5, FourFloats, Touch(), options).ok());
  options.max_storage_bytes = 95;
  EXPECT_EQ(CreateAndRun(GoodPlan(), 5, FourFloats, Touch(), options).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(HostilePlan, DimensionsBelowTheirBound) {
  Plan plan = GoodPlan();
  plan.mutable_symbols(0)->set_lower_bound(2);
  EXPECT_TRUE(CreateAndRun(plan, 2).ok());
  const absl::Status status = CreateAndRun(plan, 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "the dimension N of input 'x' would be 1, less than 2, the least "
            "it can be");
}

TEST(HostilePlan, ShapesThatOverflow) {
  ExpectError(
      [](Plan* p) { *p->mutable_tensors(2)->mutable_shape(0) = Times(kMax); },
      absl::StatusCode::kInvalidArgument,
      "tensor 'y': a dimension's "
      "expression overflows");
  ExpectError(
      [](Plan* p) {
        for (int i = 0; i < 3; ++i) {
          *p->mutable_tensors(3)->add_shape() = Const(int64_t{1} << 40);
        }
      },
      absl::StatusCode::kInvalidArgument, "too many elements");
  ExpectError(
      [](Plan* p) {
        *p->mutable_tensors(3)->add_shape() = Const(int64_t{1} << 59);
      },
      absl::StatusCode::kInvalidArgument, "tensor 'z'");
  ExpectError(
      [](Plan* p) { *p->mutable_tensors(2)->mutable_shape(0) = Times(-1); },
      absl::StatusCode::kInvalidArgument, "negative dimension");
  ExpectError(
      [](Plan* p) {
        DimExpr* dim = p->mutable_tensors(2)->mutable_shape(0);
        *dim = Times(0);
        dim->set_op(DimExpr::FLOOR_DIV);
      },
      absl::StatusCode::kInvalidArgument, "divides by zero");
}

TEST(HostilePlan, ShapeLargerThanItsStorageBinds) {
  // Right for N = 8 alone: every other binding must be refused.
  Plan plan = GoodPlan();
  *plan.mutable_storage(0)->mutable_bytes(0) = Const(32);
  EXPECT_TRUE(CreateAndRun(plan, 8).ok());
  EXPECT_TRUE(CreateAndRun(plan, 1).ok());
  EXPECT_FALSE(CreateAndRun(plan, 9).ok());
}

// Adds a view of tensor `of` with the same type and shape; its index.
int AddView(Plan* plan, int of, const std::string& name) {
  const PlanTensor viewed = plan->tensors(of);
  PlanTensor* view = plan->add_tensors();
  *view = viewed;
  view->set_name(name);
  view->set_view_of(of);
  return plan->tensors_size() - 1;
}

TEST(HostilePlan, ViewsOfInputs) {
  Plan plan = GoodPlan();
  PlanTensor* view = plan.mutable_tensors(AddView(&plan, 0, "view"));
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
TEST(HostilePlan, BoolsAreViewsOfBoolsAlone) {
  Plan plan = GoodPlan();
  PlanTensor* view = plan.mutable_tensors(AddView(&plan, 0, "view"));
  plan.mutable_tensors(0)->mutable_dtype()->set_code(1);
  plan.mutable_tensors(0)->mutable_dtype()->set_bits(8);
  view->mutable_dtype()->set_code(6);
  view->mutable_dtype()->set_bits(8);
  EXPECT_THAT(std::string(CreateAndRun(plan, 5).message()),
              HasSubstr("a view of 'x', which has another type"));
}

// A constant's bytes are compared with those of the tensor that it names, so
// views must lead to one.
TEST(HostilePlan, ViewsOfThemselves) {
  ExpectError([](Plan* p) { p->mutable_tensors(1)->set_view_of(1); },
              absl::StatusCode::kInvalidArgument,
              "tensor 'w': it is a view of tensor 1, which does not come "
              "before it");
  ExpectError(
      [](Plan* p) {
        AddView(p, 1, "other");
        p->mutable_tensors(1)->set_view_of(4);
        *p->mutable_tensors(1)->mutable_shape(0) = Const(1 << 20);
      },
      absl::StatusCode::kInvalidArgument,
      "tensor 'w': it is a view of tensor 4, which does not come before it");
  ExpectError([](Plan* p) { p->mutable_tensors(1)->set_view_of(99); },
              absl::StatusCode::kInvalidArgument,
              "tensor 'w': it is a view of tensor 99");
}

// Each in a chain of views has the size of the one before it.
TEST(HostilePlan, ViewsOfViews) {
  Plan plan = GoodPlan();
  AddView(&plan, 1, "view0");
  AddView(&plan, 4, "view1");
  *plan.mutable_tensors(4)->mutable_shape(0) = Times(1);
  *plan.mutable_tensors(5)->mutable_shape(0) = Times(2);
  plan.mutable_calls(0)->set_args(1, 5);
  EXPECT_THAT(std::string(CreateAndRun(plan, 4).message()),
              HasSubstr("tensor 'view1': 'view0', which is f32[4], cannot be "
                        "seen as f32[8]"));
  *plan.mutable_tensors(5)->mutable_shape(0) = Times(1);
  EXPECT_TRUE(CreateAndRun(plan, 4).ok());
  EXPECT_THAT(std::string(CreateAndRun(plan, 5).message()),
              HasSubstr("tensor 'view0': 'w', which is f32[4], cannot be seen "
                        "as f32[5]"));
  // A view of a fixed shape needs the symbols of what it is a view of.
  *plan.mutable_tensors(5)->mutable_shape(0) = Const(5);
  EXPECT_TRUE(absl::IsInvalidArgument(CreateAndRun(plan, 5)));
}

TEST(HostilePlan, OtherDevices) {
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

TEST(HostilePlan, ResultsThatOverlap) {
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

// Other libraries give empty tensors without an address.
TEST(HostilePlan, EmptyInputsNeedNoAddress) {
  auto executor =
      GraphExecutor::Create(SharePlan(GoodPlan()), Touch(), FourFloats);
  ASSERT_TRUE(executor.ok()) << executor.status();
  absl::StatusOr<Tensor> empty = Tensor::FromBorrowedReadOnly(
      nullptr, DataType::Float(32), std::vector<int64_t>{0});
  ASSERT_TRUE(empty.ok()) << empty.status();
  auto outputs = (*executor)->Run({*empty});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
}

TEST(HostilePlan, MissingFunctions) {
  ExpectError([](Plan* p) { p->mutable_calls(0)->set_function("gone"); },
              absl::StatusCode::kNotFound,
              "call 0 (gone): no function 'gone' in the modules touch");
  EXPECT_EQ(CreateAndRun(GoodPlan(), 5, FourFloats, nullptr).code(),
            absl::StatusCode::kNotFound);
}

TEST(HostilePlan, MissingOrWrongConstants) {
  EXPECT_EQ(CreateAndRun(GoodPlan(), 5, nullptr).message(),
            "plan: tensor 'w': there is no constant 'w'");
  EXPECT_EQ(CreateAndRun(GoodPlan(), 5,
                         [](absl::string_view) -> absl::StatusOr<Tensor> {
                           return absl::NotFoundError("nowhere");
                         })
                .message(),
            "plan: tensor 'w': nowhere");
  EXPECT_EQ(CreateAndRun(GoodPlan(), 5,
                         [](absl::string_view) {
                           return Tensor::Empty(DataType::Float(32), {3});
                         })
                .message(),
            "plan: tensor 'w': expected f32[4], but the constant 'w' is "
            "f32[3]");
  EXPECT_FALSE(CreateAndRun(GoodPlan(), 5, [](absl::string_view) {
                 return Tensor::Empty(DataType::Int(32), {4});
               }).ok());
  EXPECT_FALSE(CreateAndRun(GoodPlan(), 5,
                            [](absl::string_view) -> absl::StatusOr<Tensor> {
                              return Tensor();
                            })
                   .ok());
}

TEST(HostilePlan, ArbitraryBytes) {
  // Every prefix and every one-byte change of a good plan that still parses.
  const std::string good = GoodPlan().SerializeAsString();
  ExecutorOptions options;
  options.max_storage_bytes = 1 << 20;
  auto attempt = [&](const std::string& bytes) {
    Plan plan;
    if (!plan.ParseFromString(bytes)) return;
    CreateAndRun(plan, 5, FourFloats, Touch(), options).IgnoreError();
  };
  for (size_t i = 0; i < good.size(); ++i) {
    attempt(good.substr(0, i));
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = good;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      attempt(changed);
    }
  }
}

}  // namespace
}  // namespace ingot
