#include "runtime/plan/types.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "runtime/plan/small_plan.h"

namespace ingot {
namespace {

PlanType Floats(int64_t size) {
  PlanType type;
  type.mutable_dtype()->set_code(2);
  type.mutable_dtype()->set_bits(32);
  type.add_shape()->set_value(size);
  return type;
}

TEST(PlanTypes, AreListedOnce) {
  Plan plan;
  PlanTypeList types(&plan);
  EXPECT_EQ(types.Add(Floats(3)), 0u);
  EXPECT_EQ(types.Add(Floats(4)), 1u);
  EXPECT_EQ(types.Add(Floats(3)), 0u);
  PlanType scalar = Floats(3);
  scalar.clear_shape();
  EXPECT_EQ(types.Add(scalar), 2u);
  ASSERT_EQ(plan.types_size(), 3);
  EXPECT_EQ(plan.types(1).shape(0).value(), 4);
}

TEST(PlanTypes, OneThatIsMissingIsEmpty) {
  Plan plan = SmallPlan();
  EXPECT_EQ(PlanTypeOf(plan, 1).shape(0).value(), 4);
  for (uint32_t type : {3u, 0x80000000u, 0xffffffffu}) {
    plan.mutable_tensors(1)->set_type(type);
    EXPECT_EQ(PlanTypeOf(plan, 1).shape_size(), 0);
    EXPECT_FALSE(PlanTypeOf(plan, 1).has_dtype());
  }
}

}  // namespace
}  // namespace ingot
