#include "runtime/plan/shared_plan.h"

#include <string>

#include "gtest/gtest.h"
#include "runtime/plan/small_plan.h"

namespace ingot {
namespace {

TEST(SharedPlan, ReadsWhatWasWritten) {
  const std::string want = SmallPlan().SerializeAsString();
  SharedPlan plan;
  {
    std::string bytes = want;
    absl::StatusOr<SharedPlan> read = ReadPlan(bytes);
    ASSERT_TRUE(read.ok()) << read.status();
    bytes.assign(bytes.size(), '\xff');
    plan = *read;
  }
  EXPECT_EQ(plan->SerializeAsString(), want);
}

TEST(SharedPlan, RefusesOtherBytes) {
  const std::string bytes = SmallPlan().SerializeAsString();
  for (const std::string& bad :
       {std::string("no plan"), bytes.substr(0, bytes.size() - 1)}) {
    EXPECT_EQ(ReadPlan(bad).status(),
              absl::InvalidArgumentError("these bytes are no plan"));
  }
}

}  // namespace
}  // namespace ingot
