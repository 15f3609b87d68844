// ONNX's own cases on a GPU of NVIDIA's that the fake driver emulates: the
// first two cases of each operator that the target takes, imported, compiled,
// linked, loaded and run as a user's would be, against the numbers of its
// files. All of them, through the command, with the fake driver's folder in
// LD_LIBRARY_PATH and INGOT_FAKE_CUDA=compute:
//   bazel run //tests/conformance:verify_cases -- FOLDER --target=cuda,llvm
#include <map>
#include <string>

#include "backends/gpu/testing/open_fake_driver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/expected_failures.h"
#include "tests/conformance/onnx_case.h"
#include "tests/conformance/run_case.h"

namespace ingot {
namespace {

constexpr char kFolder[] = "external/onnx_testdata/data/node";
constexpr char kTarget[] = "cuda -mcpu=sm_80";

// The target takes at least so many: its refusal of a case is the same error as
// that of one which its code generator cannot do.
constexpr size_t kOperators = 120;
constexpr int kCasesOfEach = 2;

class CudaConformance : public testing_support::FakeDriverTest {
 protected:
  CudaConformance() : FakeDriverTest("libcuda.so.1") {}
};

TEST_F(CudaConformance, TwoCasesOfEachOperator) {
  compute_(true);
  const auto expected =
      ExpectedFailures::Read("tests/conformance/expected_failures.txt");
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto cases = FindOnnxCases(kFolder);
  ASSERT_TRUE(cases.ok()) << cases.status();
  std::map<std::string, int> passed;
  for (const OnnxCase& c : *cases) {
    const std::string op = OperatorOf(c);
    const auto done = passed.find(op);
    if ((done != passed.end() && done->second == kCasesOfEach) ||
        expected->Reason("cuda", "node/" + c.name) != nullptr) {
      continue;
    }
    const absl::Status status = RunCase(kTarget, c);
    if (absl::IsUnimplemented(status)) continue;  // for another target
    EXPECT_TRUE(status.ok()) << c.name << ": " << status;
    ++passed[op];
  }
  EXPECT_GE(passed.size(), kOperators);
  EXPECT_THAT(log_(), ::testing::HasSubstr("launch "));
  RecordProperty("operators", static_cast<int>(passed.size()));
}

}  // namespace
}  // namespace ingot
