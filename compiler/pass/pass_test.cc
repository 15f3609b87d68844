#include "compiler/pass/pass.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

// An "IR" that is valid while it is not negative.
using NumberPass = Pass<int, std::string*>;

absl::Status NotNegative(int number) {
  if (number >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(number, " is negative"));
}

const std::vector<NumberPass>& All() {
  static const auto* const kAll = new std::vector<NumberPass>{
      {"double", "twice the number",
       [](int* n, std::string* log) -> absl::StatusOr<bool> {
         absl::StrAppend(log, "double ", *n, "; ");
         const int before = *n;
         *n *= 2;
         return *n != before;
       }},
      {"negate", "an invalid one",
       [](int* n, std::string*) -> absl::StatusOr<bool> {
         *n = -*n;
         return true;
       }},
      {"fail", "",
       [](int*, std::string*) -> absl::StatusOr<bool> {
         return absl::UnimplementedError("no luck");
       }},
  };
  return *kAll;
}

absl::Status RunOnNumber(const std::vector<absl::string_view>& names,
                         int* number, std::string* log,
                         const PassOptions<int, std::string*>& options = {}) {
  INGOT_ASSIGN_OR_RETURN(std::vector<const NumberPass*> passes,
                         FindPasses(All(), names));
  return RunPasses(absl::MakeConstSpan(passes), NotNegative, options, number,
                   log);
}

TEST(PassTest, RunsInOrderAndReportsEach) {
  int number = 3;
  std::string log, events;
  PassOptions<int, std::string*> options;
  options.after = [&events](const PassEvent<int, std::string*>& event) {
    absl::StrAppend(&events, event.index, " ", event.pass.name, " ", event.ir,
                    event.changed ? " changed; " : " same; ");
    EXPECT_GE(event.time, absl::ZeroDuration());
    return absl::OkStatus();
  };
  ASSERT_TRUE(RunOnNumber({"double", "double"}, &number, &log, options).ok());
  EXPECT_EQ(number, 12);
  EXPECT_EQ(log, "double 3; double 6; ");
  EXPECT_EQ(events, "1 double 6 changed; 2 double 12 changed; ");
  events.clear();
  number = 0;
  ASSERT_TRUE(RunOnNumber({"double"}, &number, &log, options).ok());
  EXPECT_EQ(events, "1 double 0 same; ");
}

TEST(PassTest, LeavesOutWhatShouldNotRun) {
  int number = 3, asked = 0;
  std::string log;
  PassOptions<int, std::string*> options;
  options.should_run = [&asked](const NumberPass& pass) {
    EXPECT_TRUE(pass.name == "double" || pass.name == "fail");
    return ++asked <= 1;
  };
  ASSERT_TRUE(
      RunOnNumber({"double", "double", "fail"}, &number, &log, options).ok());
  EXPECT_EQ(log, "double 3; ");
  EXPECT_EQ(asked, 3);
}

TEST(PassTest, UnknownNamesAreFoundBeforeAnythingRuns) {
  int number = 3;
  std::string log;
  const absl::Status status = RunOnNumber({"double", "halve"}, &number, &log);
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_EQ(status.message(),
            "there is no pass 'halve'; there are: double, negate, fail");
  EXPECT_EQ(number, 3);
}

TEST(PassTest, ErrorsNameThePass) {
  int number = 3;
  std::string log;
  EXPECT_EQ(RunOnNumber({"double", "fail"}, &number, &log),
            absl::UnimplementedError("pass fail: no luck"));
  EXPECT_EQ(RunOnNumber({"negate"}, &number, &log),
            absl::InternalError("after pass negate: -6 is negative"));
}

TEST(PassTest, VerifyingCanBeSwitchedOff) {
  int number = 3;
  std::string log;
  PassOptions<int, std::string*> options;
  options.verify = false;
  EXPECT_TRUE(RunOnNumber({"negate", "negate"}, &number, &log, options).ok());
}

TEST(PassTest, WhoListensMayStopTheRun) {
  int number = 1;
  std::string log;
  PassOptions<int, std::string*> options;
  options.after = [](const PassEvent<int, std::string*>&) {
    return absl::DataLossError("the disk is full");
  };
  EXPECT_EQ(RunOnNumber({"double", "double"}, &number, &log, options),
            absl::DataLossError("the disk is full"));
  EXPECT_EQ(number, 2);
}

}  // namespace
}  // namespace ingot
