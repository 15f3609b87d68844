// `ingot diff`, on sets that a person would compare.

#include <filesystem>
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

class DiffCommandTest : public CliTest {
 protected:
  void Compile(const std::string& model, const std::string& name,
               const std::string& target, const std::string& more = "") const {
    std::vector<std::string> words = {"compile", "@" + model,
                                      "-o",      "@" + name + ".ingot",
                                      "--quiet", "--target=" + target};
    if (!more.empty()) words.push_back(more);
    Do(words);
  }
};

TEST_F(DiffCommandTest, FindsNothingBetweenFormsOfOneSet) {
  Compile("conv.onnx", "a", "llvm");
  Do({"dump", "@a.ingot", "-o", "@a.dir"});
  EXPECT_EQ(Do({"diff", "@a.ingot", "@a.dir"}), "");
  EXPECT_EQ(DoJson({"diff", "@a.ingot", "@a.dir"})["equal"], true);
  EXPECT_EQ(
      Do({"diff", "@a.ingot", "@a.dir", "--artifact=host/ingot/plan.binpb"}),
      "");
  ExpectError({"diff", "@a.ingot", "@a.dir", "--json",
               "--artifact=host/ingot/plan.binpb"},
              2, {"--json is of the whole sets"});
}

TEST_F(DiffCommandTest, ShowsWhatAnOptionChanged) {
  Compile("conv.onnx", "a", "c");
  Compile("conv.onnx", "b", "c", "--opt-level=0");
  const CommandResult diff = Ingot({"diff", "@a.ingot", "@b.ingot"});
  EXPECT_EQ(diff.exit, 1);
  EXPECT_THAT(diff.err,
              AllOf(HasSubstr("differences: "), HasSubstr("of functions")));
  EXPECT_THAT(diff.out, AllOf(HasSubstr("option opt-level"),
                              HasSubstr("host/c/"), HasSubstr("1 call")));
}

// Nothing but what the manifest says of the model and of a variant.
TEST_F(DiffCommandTest, ShowsMetadataAndOptionsOfVariants) {
  Compile("mlp.onnx", "a", "v3: llvm -mcpu=x86-64-v3; c: c");
  Do({"dump", "@a.ingot", "-o", "@a.dir"});
  const std::string path = Path("a.dir/manifest.json");
  nlohmann::json manifest = nlohmann::json::parse(ReadFile(path));
  nlohmann::json& provenance = manifest["provenance"];
  provenance["model_metadata"] = {{{"name", "license"}, {"value", "MIT"}}};
  provenance["variants"][0]["options"] = {{{"name", "odd"}, {"value", "7"}}};
  WriteFileBytes(path, manifest.dump());
  const CommandResult diff = Ingot({"diff", "@a.ingot", "@a.dir"});
  EXPECT_EQ(diff.exit, 1);
  EXPECT_THAT(diff.err, HasSubstr("differences: 2 of set"));
  EXPECT_THAT(diff.out, AllOf(ContainsRegex("metadata license +- +MIT\n"),
                              ContainsRegex("variant v3: option odd +- +7\n")));
}

TEST_F(DiffCommandTest, ShowsWhereNodesMoved) {
  Compile("conv.onnx", "a", "llvm");
  Compile("conv.onnx", "b", "dnnl,llvm");
  const CommandResult diff = Ingot({"diff", "@a.ingot", "@b.ingot"});
  EXPECT_EQ(diff.exit, 1);
  EXPECT_THAT(diff.out, AllOf(HasSubstr("NODES"), HasSubstr("dnnl")));
}

TEST_F(DiffCommandTest, ShowsLinesOfAnEditedKernel) {
  Compile("conv.onnx", "a", "c");
  Do({"dump", "@a.ingot", "-o", "@a.dir"});
  std::string path;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(Path("a.dir"))) {
    if (entry.path().extension() == ".c") path = entry.path().string();
  }
  ASSERT_NE(path, "");
  const std::string text = ReadFile(path);
  WriteFileBytes(path, text + "/* mine */\n");
  const std::string artifact =
      std::filesystem::relative(path, Path("a.dir")).string();
  const CommandResult lines =
      Ingot({"diff", "@a.ingot", "@a.dir", "--accept-edits",
             "--artifact=" + artifact});
  EXPECT_EQ(lines.exit, 1);
  EXPECT_THAT(lines.out, AllOf(HasSubstr("+/* mine */\n"), HasSubstr("@@ -"),
                               HasSubstr("--- A/" + artifact)));
  const CommandResult all =
      Ingot({"diff", "@a.ingot", "@a.dir", "--accept-edits"});
  EXPECT_THAT(all.err, HasSubstr("1 of artifacts"));
  EXPECT_THAT(all.out, Not(HasSubstr("WEIGHTS")));
  ExpectError({"diff", "@a.ingot", "@a.ingot", "--artifact=host/c/x.c"}, 1,
              {"no artifact 'host/c/x.c' in A"});
}

TEST_F(DiffCommandTest, ShowsWhatBecameOfThePlan) {
  Compile("conv.onnx", "a", "llvm");
  Compile("conv.onnx", "b", "llvm", "--opt-level=0");
  const CommandResult diff = Ingot({"diff", "@a.ingot", "@b.ingot", "--json"});
  EXPECT_EQ(diff.exit, 1);
  EXPECT_THAT(diff.out, AllOf(HasSubstr("PLAN"), HasSubstr("storage"),
                              HasSubstr("first other call 0")));
  Do({"compile", "@conv.onnx", "-o", "@c.ingot", "--quiet",
      "--input-shape=image:1x3x16x16"});
  EXPECT_THAT(Ingot({"diff", "@a.ingot", "@c.ingot"}).out,
              Not(HasSubstr("PLAN")));
}

TEST_F(DiffCommandTest, ExplainSaysWhatMovedAndWhy) {
  const std::string table =
      Do({"explain", "@conv.onnx", "--target=llvm", "--diff=dnnl,llvm"});
  EXPECT_THAT(table, AllOf(HasSubstr("conv"), HasSubstr("dnnl"),
                           HasSubstr("dnnl is not among the targets of A")));
  // The other way round, and with a reason of the target's own.
  const nlohmann::json back =
      DoJson({"explain", "@conv.onnx", "--target=dnnl,llvm",
              "--diff=dnnl -min-region=20,llvm"});
  ASSERT_FALSE(back["moved"].empty());
  for (const nlohmann::json& move : back["moved"]) {
    EXPECT_EQ(move["from"], "dnnl");
    EXPECT_EQ(move["to"], "llvm");
    EXPECT_THAT(move["why"].dump(), HasSubstr("dnnl does not take it in B: "));
  }
  EXPECT_EQ(Do({"explain", "@conv.onnx", "--diff=llvm"}),
            "every node is on the same target\n");
  EXPECT_EQ(Do({"explain", "@conv.onnx", "--diff=llvm", "--quiet"}), "");
  ExpectError({"explain", "@conv.onnx", "--diff=nothing"}, 2,
              {"--diff", "nothing"});
  ExpectError({"explain", "@conv.onnx", "--diff=a: llvm; b: c"}, 2,
              {"not variants"});
}

TEST_F(DiffCommandTest, ShowsOtherModels) {
  Compile("conv.onnx", "a", "llvm");
  Compile("mlp.onnx", "b", "llvm");
  const CommandResult diff = Ingot({"diff", "@a.ingot", "@b.ingot"});
  EXPECT_EQ(diff.exit, 1);
  EXPECT_THAT(diff.out, AllOf(HasSubstr("model's SHA-256"),
                              HasSubstr("WEIGHTS"), HasSubstr("f32[")));
  ExpectError({"diff", "@a.ingot", "@nothing.ingot"}, 1, {"nothing.ingot"});
}

}  // namespace
}  // namespace ingot
