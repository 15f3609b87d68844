// Tests of what `ingot inspect` says of whole sets.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class InspectTest : public CliTest {
 protected:
  std::string Compile(const std::string& target) const {
    Do({"compile", "@conv.onnx", "--target=" + target, "-o", "@conv.ingot",
        "--quiet"});
    return "@conv.ingot";
  }
};

TEST_F(InspectTest, ListsFunctionsOfObjects) {
  const std::string set = Compile("llvm");
  EXPECT_THAT(
      Do({"inspect", set, "--functions"}),
      AllOf(ContainsRegex("FUNCTION +TARGET +CALLS +CODE +WEIGHTS +TYPES +"
                          "NODES\n"),
            ContainsRegex("conv_fused_conv2d[a-z_]* +host +1 +[0-9.]+ (KiB|B)"
                          " +[0-9.]+ (KiB|B) +\\(f32.*\\) -> f32")));
  const nlohmann::json all = DoJson({"inspect", set, "--functions"});
  uint64_t weights = 0, nodes = 0;
  for (const auto& function : all["functions"]) {
    EXPECT_EQ(function["target"], "host") << function;
    EXPECT_EQ(function["artifact"], "host/llvm/conv_kernels.o") << function;
    EXPECT_GT(function["code_bytes"], 16) << function;
    nodes += function["nodes"].size();
    weights += function["weight_bytes"].get<uint64_t>();
  }
  EXPECT_GT(weights, 0u);
  EXPECT_GE(nodes, 3u);
  EXPECT_EQ(all["targets"][0]["weight_bytes"], weights);
  EXPECT_EQ(all["targets"][0]["functions"], all["functions"].size());
}

TEST_F(InspectTest, FindsCodeInSourcesAndGraphs) {
  for (const std::string target : {"c", "dnnl,llvm"}) {
    const nlohmann::json all = DoJson({"inspect", Compile(target)});
    ASSERT_FALSE(all["functions"].empty()) << target;
    for (const auto& function : all["functions"]) {
      EXPECT_GT(function["code_bytes"], 16) << function;
      EXPECT_NE(function["artifact"], "") << function;
    }
  }
}

TEST_F(InspectTest, CountsTheKernelsOfBranches) {
  WriteFileBytes(Path("branch.relay"), R"(module {
  func @main(%x: f32[2, 3], %c: bool[]) -> (%y) {
    %b = if(%c, %x) {else="other", then="first"} : (f32[2, 3])
    %y = relu(%b)
  }
  func @first(%p: f32[2, 3]) -> (%r) {
    %r = exp(%p)
  }
  func @other(%p: f32[2, 3]) -> (%r) {
    %r = tanh(%p)
  }
})");
  Do({"compile", "@branch.relay", "-o", "@branch.ingot", "--quiet"});
  EXPECT_THAT(Do({"inspect", "@branch.ingot"}),
              ContainsRegex("kernel calls +3\n"));
}

// No more than what there is: no random inputs, no extremes, a count of nodes.
TEST_F(InspectTest, AModelOfNothing) {
  WriteFileBytes(Path("nothing.relay"), R"(module {
  func @main() -> (%y: "y") {
    %y = const f32[0, 3] {}
  }
})");
  Do({"compile", "@nothing.relay", "-o", "@nothing.ingot", "--quiet"});
  EXPECT_THAT(Do({"explain", "@nothing.relay"}),
              HasSubstr("placement: no nodes\n"));
  const nlohmann::json output = DoJson({"run", "@nothing.ingot"})["outputs"][0];
  EXPECT_TRUE(output["min"].is_null()) << output;
  EXPECT_THAT(Do({"bench", "@nothing.ingot", "--runs=2"}),
              Not(HasSubstr("random")));
}

TEST_F(InspectTest, ShowsMemoryOverTime) {
  const std::string set = Compile("llvm");
  const nlohmann::json all = DoJson({"inspect", set});
  const auto& memory = all["memory"][0];
  const size_t calls = memory["in_use"].size() - 1;
  EXPECT_GT(calls, 1u);
  uint64_t storage = 0, most = 0;
  for (const auto& bytes : memory["storage"]) {
    storage += bytes.get<uint64_t>();
  }
  for (const auto& bytes : memory["in_use"]) {
    most = std::max(most, bytes.get<uint64_t>());
  }
  EXPECT_GT(most, 0u);
  EXPECT_LE(most, storage);
  const std::string text = Do({"inspect", set, "--memory"});
  EXPECT_THAT(text, AllOf(HasSubstr("conv: "), HasSubstr(" of storage\n"),
                          ContainsRegex("CALL +IN USE +FUNCTION +NODES\n"),
                          ContainsRegex("\n +0 +[0-9.]+ K?i?B +#* +conv_"),
                          ContainsRegex("\n +end +[0-9.]+ K?i?B")));
  // The one with the most has the longest bar.
  EXPECT_THAT(text, HasSubstr("########################################"));
}

TEST_F(InspectTest, SaysWhatIsForWhichTarget) {
  const std::string set = Compile("mine: dnnl,llvm");
  const std::string text = Do({"inspect", set});
  EXPECT_THAT(text, ContainsRegex("TARGET +MADE BY +ARTIFACTS +SIZE +FUNCTIONS "
                                  "+CALLS +CODE +WEIGHTS\n"));
  EXPECT_THAT(text, ContainsRegex("\nhost +ingot"));
  EXPECT_THAT(text, ContainsRegex("\nmine +dnnl +2 "));
}

// A dump of a compilation has the module before and after it was partitioned.
TEST_F(InspectTest, DumpsHaveTheModulesText) {
  Do({"compile", "@conv.onnx", "--target=dnnl,llvm", "-o", "@conv.ingot",
      "--dump=@dump", "--quiet"});
  EXPECT_THAT(ReadFile(Path("dump/relay/imported.relay")),
              HasSubstr("func @main("));
  const std::string before =
      ReadFile(Path("dump/relay/before_partition.relay"));
  const std::string after = ReadFile(Path("dump/relay/partitioned.relay"));
  EXPECT_THAT(before, Not(HasSubstr("target=\"dnnl\"")));
  EXPECT_THAT(after, HasSubstr("target=\"dnnl\""));
  EXPECT_THAT(ReadFile(Path("dump/relay/kernels.relay")),
              HasSubstr("target=\"dnnl\""));
  // It is no part of the set.
  Do({"pack", "@dump", "-o", "@again.ingot"});
  EXPECT_EQ(ReadFile(Path("again.ingot")), ReadFile(Path("conv.ingot")));
}

TEST_F(InspectTest, OfASetOrOfAPart) {
  ExpectError({"inspect", Compile("c"), "--artifact=plan.binpb", "--memory"}, 2,
              {"--memory", "--artifact"});
}

}  // namespace
}  // namespace ingot
