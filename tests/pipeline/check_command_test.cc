// `ingot check`: what it says before a set is loaded, and that loading agrees.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class CheckCommandTest : public CliTest {
 protected:
  std::string Compile(const std::string& target) const {
    Do({"compile", "@conv.onnx", "-o", "@conv.ingot", "--quiet",
        "--target=" + target});
    return Path("conv.ingot");
  }
};

TEST_F(CheckCommandTest, CodeForThisMachineIsOptimal) {
  const std::string set = Compile("llvm");
  const nlohmann::json parts = DoJson({"check", set})["parts"];
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0]["part"], "target key host");
  // Small layers may not use the widest vectors.
  EXPECT_THAT(parts[0]["verdict"].get<std::string>(), AnyOf("optimal", "runs"));
}

TEST_F(CheckCommandTest, SaysWhatOtherProcessorsLack) {
  const std::string set =
      Compile("llvm -mtriple=x86_64-pc-linux-gnu -mcpu=x86-64-v3");
  EXPECT_THAT(Do({"check", set, "--cpu=haswell"}), HasSubstr("optimal"));
  EXPECT_THAT(Do({"check", set, "--cpu=skylake-avx512"}),
              HasSubstr("also has avx512f, which the code does not use"));
  ExpectError({"check", set, "--cpu=nehalem"}, 1,
              {"cannot run on nehalem", "lacks", "avx2"});
  ExpectError({"check", set, "--cpu=cortex-a72"}, 2, {"--cpu=cortex-a72"});
}

TEST_F(CheckCommandTest, AgreesWithLoading) {
  for (const std::string& target : std::vector<std::string>{
           "llvm", "c", "llvm -mcpu=x86-64", "llvm -mcpu=x86-64-v2",
           "llvm -mcpu=x86-64-v3", "llvm -mcpu=x86-64-v4",
           "llvm -mcpu=sapphirerapids", "llvm -mcpu=znver4",
           "llvm -mtriple=aarch64-linux-gnu", "llvm -mtriple=riscv64-linux-gnu",
           "llvmjit", "dnnl,llvm"}) {
    SCOPED_TRACE(target);
    const std::string set = Compile(target);
    const CommandResult check = Ingot({"check", set});
    const CommandResult run = Ingot({"run", set});
    EXPECT_EQ(check.exit, run.exit) << check.out << check.err << run.err;
    EXPECT_THAT(check.out, HasSubstr(run.exit == 0 ? "host" : "refused"));
  }
}

TEST_F(CheckCommandTest, SourceCodeIsCompiledWhenItIsLinked) {
  const std::string set = Compile("c");
  EXPECT_THAT(Do({"check", set}), HasSubstr("it is C"));
  EXPECT_THAT(Do({"check", set, "--cpu=znver4"}), HasSubstr("it is C"));
}

TEST_F(CheckCommandTest, LooksIntoLinkedLibraries) {
  const std::string set = Compile("llvm -mcpu=x86-64-v2");
  Do({"link", set, "-o", "@conv.so", "--quiet"});
  const CommandResult check = Ingot({"check", "@conv.so"});
  const CommandResult run = Ingot({"run", "@conv.so"});
  EXPECT_EQ(check.exit, run.exit) << check.err;
}

}  // namespace
}  // namespace ingot
