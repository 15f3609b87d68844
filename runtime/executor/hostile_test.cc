// Plans that come from someone who wishes us ill: none may crash the process.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/hostile_plans.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

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
  *plan.mutable_types(0)->mutable_shape(0) = Const(5);
  *plan.mutable_types(2)->mutable_shape(0) = Const(5);
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
      [](Plan* p) { *p->mutable_types(2)->mutable_shape(0) = Times(kMax); },
      absl::StatusCode::kInvalidArgument,
      "tensor 'y': a dimension's "
      "expression overflows");
  ExpectError(
      [](Plan* p) {
        for (int i = 0; i < 3; ++i) {
          *p->mutable_types(3)->add_shape() = Const(int64_t{1} << 40);
        }
      },
      absl::StatusCode::kInvalidArgument, "too many elements");
  ExpectError(
      [](Plan* p) {
        *p->mutable_types(3)->add_shape() = Const(int64_t{1} << 59);
      },
      absl::StatusCode::kInvalidArgument, "tensor 'z'");
  ExpectError(
      [](Plan* p) { *p->mutable_types(2)->mutable_shape(0) = Times(-1); },
      absl::StatusCode::kInvalidArgument, "negative dimension");
  ExpectError(
      [](Plan* p) {
        DimExpr* dim = p->mutable_types(2)->mutable_shape(0);
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
