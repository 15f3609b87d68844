// A model compiled for several machines into one set, through the command.

#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::HasSubstr;

constexpr char kFat[] =
    "--target=arm: llvm -mtriple=aarch64-linux-gnu; "
    "old: llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64; "
    "v2: llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2";

class VariantsTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
#ifndef __x86_64__
    GTEST_SKIP() << "the variants are for x86-64";
#endif
  }

  nlohmann::json Outputs(std::vector<std::string> args) const {
    args.insert(args.begin(), "run");
    return DoJson(args)["outputs"];
  }
};

TEST_F(VariantsTest, TheBestThatRunsIsLoadedInEveryForm) {
  Do({"compile", "@conv.onnx", "-o", "@fat.ingot", kFat, "--dump=@fat.dir"});
  Do({"link", "@fat.ingot", "-o", "@fat.so"});
  Do({"pack", "@fat.dir", "-o", "@packed.ingot"});
  EXPECT_EQ(ReadFile(Path("fat.ingot")), ReadFile(Path("packed.ingot")));
  Do({"compile", "@conv.onnx", "-o", "@plain.ingot", "--target=llvm",
      "--quiet"});
  const nlohmann::json expected = Outputs({"@plain.ingot"});
  for (const char* form : {"@fat.ingot", "@fat.dir", "@fat.so"}) {
    SCOPED_TRACE(form);
    EXPECT_THAT(Do({"run", form}), HasSubstr("loaded the variant v2"));
    EXPECT_EQ(DoJson({"check", form})["variant"], "v2");
    for (const char* variant : {"old", "v2"}) {
      const nlohmann::json outputs =
          Outputs({form, std::string("--variant=") + variant});
      ASSERT_EQ(outputs.size(), expected.size());
      EXPECT_NEAR(outputs[0]["mean"].get<double>(),
                  expected[0]["mean"].get<double>(), 1e-4);
    }
    ExpectError({"run", form, "--variant=arm"}, 1, {"aarch64"});
    ExpectError({"run", form, "--variant=v9"}, 1,
                {"no variant 'v9'", "arm, old, v2"});
  }
  ExpectError({"run", "@plain.ingot", "--variant=v2"}, 1, {"no variant"});
}

TEST_F(VariantsTest, HaveTheirOwnFoldersAndCommonWeights) {
  Do({"compile", "@conv.onnx", "-o", "@fat.ingot", kFat, "--dump=@fat.dir",
      "--quiet"});
  EXPECT_THAT(FilesIn(Path("fat.dir")),
              testing::ElementsAre("arm", "host", "manifest.json", "old",
                                   "relay", "v2"));
  EXPECT_TRUE(
      std::filesystem::exists(Path("fat.dir/host/ingot/weights.safetensors")));
  EXPECT_FALSE(
      std::filesystem::exists(Path("fat.dir/v2/ingot/weights.safetensors")));
  EXPECT_TRUE(std::filesystem::exists(Path("fat.dir/v2/ingot/plan.binpb")));
}

TEST_F(VariantsTest, CheckSaysWhichOneAProcessorGets) {
  Do({"compile", "@conv.onnx", "-o", "@fat.ingot", "--quiet",
      "--target=v3: llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3; "
      "v4: llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4; "
      "v2: llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2; "
      "arm: llvm -mtriple=aarch64-linux-gnu"});
  struct Case {
    const char* cpu;
    const char* variant;
  };
  for (const Case& c :
       {Case{"nehalem", "v2"}, Case{"haswell", "v3"}, Case{"znver3", "v3"},
        Case{"alderlake", "v3"}, Case{"skylake-avx512", "v4"},
        Case{"znver5", "v4"}, Case{"sapphirerapids", "v4"},
        Case{"cortex-a72", "arm"}}) {
    SCOPED_TRACE(c.cpu);
    EXPECT_EQ(DoJson({"check", "@fat.ingot",
                      std::string("--cpu=") + c.cpu})["variant"],
              c.variant);
  }
  ExpectError({"check", "@fat.ingot", "--cpu=core2"}, 1,
              {"cannot run on core2", "variant v2"});
}

TEST_F(VariantsTest, OfSeveralKindsShareASet) {
  Do({"compile", "@conv.onnx", "-o", "@fat.ingot", "--quiet",
      "--target=lib: dnnl,llvm; source: c; plain: llvm"});
  for (const char* variant : {"lib", "source", "plain"}) {
    Do({"run", "@fat.ingot", std::string("--variant=") + variant});
  }
  Do({"link", "@fat.ingot", "-o", "@fat.so", "--quiet"});
  for (const char* variant : {"lib", "source", "plain"}) {
    Do({"run", "@fat.so", std::string("--variant=") + variant});
  }
}

TEST_F(VariantsTest, ErrorsNameTheVariant) {
  ExpectError({"compile", "@conv.onnx", "-o", "@x.ingot",
               "--target=a: llvm; b: llvm -mcpu=nonesuch"},
              2, {"--target", "b", "nonesuch"});
  ExpectError({"compile", "@conv.onnx", "-o", "@x.ingot", "--target=a: llvm;"},
              2, {"the name of a variant"});
  EXPECT_THAT(Do({"explain", "@conv.onnx", "--target=a: llvm; b: dnnl,llvm"}),
              HasSubstr("variant b:"));
}

}  // namespace
}  // namespace ingot
