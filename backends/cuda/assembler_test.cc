// NVIDIA's assembler, where it is installed, on products by tensor cores:
// threads keep all sums in registers, and multiplications are not made to wait
// for each other (messages C7500 to C7599).
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/device/testing/device_sets.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Output {
  int status = 0;
  std::string text;
};

Output RunCommand(const std::string& command) {
  Output output;
  std::FILE* const pipe = popen(absl::StrCat(command, " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {1, "no shell"};
  char buffer[4096];
  size_t bytes;
  while ((bytes = std::fread(buffer, 1, sizeof buffer, pipe)) > 0) {
    output.text.append(buffer, bytes);
  }
  output.status = pclose(pipe);
  return output;
}

// Empty: there is none.
std::string FindAssembler() {
  for (const char* const ptxas : {"ptxas", "/usr/local/cuda/bin/ptxas"}) {
    if (RunCommand(absl::StrCat(ptxas, " --version")).status == 0) return ptxas;
  }
  return "";
}

class CudaAssembler : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ptxas_.empty()) GTEST_SKIP() << "ptxas is not installed";
  }

  void Check(const std::string& model, const std::string& cpu,
             const std::string& instruction) {
    const auto set = testing_support::CompileText(
        model, absl::StrCat("cuda -mcpu=", cpu, ",llvm"));
    ASSERT_TRUE(set.ok()) << set.status();
    const std::string ptx =
        testing_support::ContentOf(*set, "cuda", "kernels.ptx");
    EXPECT_THAT(ptx, HasSubstr(instruction)) << model;
    const std::string file = absl::StrCat(::testing::TempDir(), "/kernels.ptx");
    std::ofstream(file) << ptx;
    const Output output = RunCommand(
        absl::StrCat(ptxas_, " -v -arch=", cpu, " ", file, " -o ", file, ".o"));
    EXPECT_EQ(output.status, 0) << output.text << model;
    EXPECT_THAT(output.text, HasSubstr(" 0 bytes spill stores")) << model;
    EXPECT_THAT(output.text,
                Not(AnyOf(HasSubstr("C75"), HasSubstr("serialized"))))
        << model;
  }

 private:
  const std::string ptxas_ = FindAssembler();
};

std::string Product(int rows, const std::string& type) {
  return absl::StrReplaceAll(R"(
module {
  func @main(%x: TYPE[ROWS, 4096], %w: TYPE[4096, 4096]) -> (%y) {
    %p = matmul(%x, %w)
    %y = gelu(%p)
  }
}
)",
                             {{"TYPE", type}, {"ROWS", absl::StrCat(rows)}});
}

std::string Convolution(const std::string& type) {
  return absl::StrReplaceAll(R"(
module {
  func @main(%x: TYPE[32, 128, 28, 28], %w: TYPE[128, 128, 3, 3]) -> (%y) {
    %c = conv2d(%x, %w) {pads=[1, 1, 1, 1]}
    %y = relu(%c)
  }
}
)",
                             {{"TYPE", type}});
}

TEST_F(CudaAssembler, KeepsSumsInRegisters) {
  for (const char* const type : {"f16", "bf16"}) {
    Check(Product(4096, type), "sm_80", "mma.sync");
    Check(Convolution(type), "sm_80", "mma.sync");
  }
}

TEST_F(CudaAssembler, DoesNotMakeGroupsWait) {
  for (const char* const type : {"f16", "bf16"}) {
    for (const int rows : {64, 128, 1000, 4096}) {
      Check(Product(rows, type), "sm_90a", "wgmma.mma_async");
    }
    // Taps of weights lie apart: no boxes.
    Check(Convolution(type), "sm_90a", "mma.sync");
  }
}

}  // namespace
}  // namespace ingot
