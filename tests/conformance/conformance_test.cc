// ONNX's own test cases, each by several ways: operator by operator by the loop
// interpreter, and compiled, linked, loaded and executed for targets.
//
// A case passes as its files are or stands in expected_failures.txt with a
// reason. One that passes although it stands there fails the test too, so that
// the figure is exact. At the end there is a table by operator; `bazel run`
// shows the one of all shards.
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/conformance/expected_failures.h"
#include "tests/conformance/onnx_case.h"
#include "tests/conformance/run_case.h"
#include "tests/conformance/tally.h"

namespace ingot {
namespace {

constexpr const char* kFolders[] = {"node", "pytorch-converted",
                                    "pytorch-operator", "simple"};
constexpr const char* kWays[] = {kInterpreter, "llvm", "c"};

struct Param {
  std::string way;
  std::string key;  // "node/test_abs"
  OnnxCase c;
};

std::vector<Param> AllCases() {
  std::vector<Param> params;
  for (const char* folder : kFolders) {
    absl::StatusOr<std::vector<OnnxCase>> cases =
        FindOnnxCases(absl::StrCat("external/onnx_testdata/data/", folder));
    if (!cases.ok()) continue;  // CasesAreThere says so
    for (const OnnxCase& c : *cases) {
      for (const char* way : kWays) {
        params.push_back({way, absl::StrCat(folder, "/", c.name), c});
      }
    }
  }
  return params;
}

absl::StatusOr<ExpectedFailures> ReadExpected() {
  return ExpectedFailures::Read("tests/conformance/expected_failures.txt");
}

class ConformanceTest : public testing::TestWithParam<Param> {
 public:
  static void SetUpTestSuite() {
    absl::StatusOr<ExpectedFailures> expected = ReadExpected();
    ASSERT_TRUE(expected.ok()) << expected.status();
    expected_ = new ExpectedFailures(*std::move(expected));
    tally_ = new Tally;
  }

  static void TearDownTestSuite() {
    if (tally_ != nullptr) std::fputs(tally_->ToString().c_str(), stdout);
  }

 protected:
  // Used by all cases, kept until the process ends.
  static inline ExpectedFailures* expected_ = nullptr;
  static inline Tally* tally_ = nullptr;
};

TEST_P(ConformanceTest, Case) {
  const Param& param = GetParam();
  ASSERT_NE(tally_, nullptr);
  const absl::Status status = RunCase(param.way, param.c);
  tally_->Add(param.way, OperatorOf(param.c),
              status.ok()                     ? Outcome::kPassed
              : absl::IsUnimplemented(status) ? Outcome::kSkipped
                                              : Outcome::kFailed);
  const std::string* reason = expected_->Reason(param.way, param.key);
  if (status.ok()) {
    EXPECT_EQ(reason, nullptr) << param.key << " passes now on " << param.way
                               << ": take it out of expected_failures.txt";
  } else {
    EXPECT_NE(reason, nullptr)
        << param.key << " on " << param.way << ": " << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Onnx, ConformanceTest, testing::ValuesIn(AllCases()),
                         [](const auto& info) {
                           std::string name = absl::StrCat(info.param.way, "_",
                                                           info.param.key);
                           for (char& c : name) {
                             if (!absl::ascii_isalnum(c)) c = '_';
                           }
                           return name;
                         });

TEST(ExpectedFailuresTest, NameCasesThatExist) {
  std::set<std::string> keys, ways;
  for (const Param& param : AllCases()) {
    keys.insert(param.key);
    ways.insert(param.way);
  }
  absl::StatusOr<ExpectedFailures> expected = ReadExpected();
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const auto& [way, key] : expected->entries()) {
    EXPECT_TRUE(keys.count(key) > 0) << "there is no case " << key;
    EXPECT_TRUE(way.empty() || ways.count(way) > 0) << "no way " << way;
  }
}

// Ingot promises 98 of 100 cases, on every way.
TEST(ExpectedFailuresTest, AreFew) {
  absl::StatusOr<ExpectedFailures> expected = ReadExpected();
  ASSERT_TRUE(expected.ok()) << expected.status();
  std::map<std::string, int> all, failing;
  for (const Param& param : AllCases()) {
    ++all[param.way];
    if (expected->Reason(param.way, param.key) != nullptr) ++failing[param.way];
  }
  for (const char* way : kWays) {
    EXPECT_GE(all[way], 1000) << way << ": cases are missing";
    EXPECT_LE(failing[way] * 100, all[way] * 2) << way;
  }
}

}  // namespace
}  // namespace ingot
