// ONNX's own cases on a device of OpenCL, such as PoCL makes of the CPU: the
// first case of each operator that the target takes, imported, compiled,
// linked, loaded and run as a user's would be, against the numbers of its
// files. All of them, through the command:
//   bazel run //tests/conformance:verify_cases -- FOLDER --target=opencl,llvm
// The test is skipped where there is no driver.
#include <set>
#include <string>

#include "backends/opencl/device.h"
#include "gtest/gtest.h"
#include "tests/conformance/expected_failures.h"
#include "tests/conformance/onnx_case.h"
#include "tests/conformance/run_case.h"

namespace ingot {
namespace {

constexpr char kFolder[] = "external/onnx_testdata/data/node";

// The target takes at least so many: its refusal of a case is the same error as
// that of one which its code generator cannot do.
constexpr size_t kOperators = 125;

TEST(OpenClConformance, OneCaseOfEachOperator) {
  const auto device = opencl::ClDevice::Open();
  if (!device.ok()) GTEST_SKIP() << device.status().message();
  const auto expected =
      ExpectedFailures::Read("tests/conformance/expected_failures.txt");
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto cases = FindOnnxCases(kFolder);
  ASSERT_TRUE(cases.ok()) << cases.status();
  std::set<std::string> passed;
  for (const OnnxCase& c : *cases) {
    const std::string op = OperatorOf(c);
    if (passed.count(op) != 0 ||
        expected->Reason("opencl", "node/" + c.name) != nullptr) {
      continue;
    }
    const absl::Status status = RunCase("opencl", c);
    if (absl::IsUnimplemented(status)) continue;  // for another target
    EXPECT_TRUE(status.ok()) << c.name << ": " << status;
    passed.insert(op);
  }
  EXPECT_GE(passed.size(), kOperators);
  RecordProperty("operators", static_cast<int>(passed.size()));
}

}  // namespace
}  // namespace ingot
