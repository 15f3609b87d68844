// The command's words with backends that take regions, and with files that are
// one artifact.

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(CliTest, AModelOnOpenblas) {
  WriteMlpTestData(Path("data"));
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--target=cblas,llvm",
      "--quiet"});
  EXPECT_THAT(Do({"list", "@mlp.ingot"}), HasSubstr("cblas"));
  EXPECT_THAT(Do({"inspect", "@mlp.ingot"}),
              HasSubstr("openblas:libopenblas0"));
  Do({"verify", "@mlp.ingot", "--test-data=" + Path("data")});
  Do({"link", "@mlp.ingot", "-o", "@mlp.so", "--quiet"});
  Do({"verify", "@mlp.so", "--test-data=" + Path("data")});
}

// Options that decide over the code stand in the set.
TEST_F(CliTest, APinStandsInTheSet) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--target=cblas,llvm",
      "--pin=second:llvm", "--quiet"});
  EXPECT_THAT(Do({"inspect", "@mlp.ingot"}),
              AllOf(HasSubstr("option pin"), HasSubstr("second:llvm")));
}

// `explain` says why something is not the composite that it looks like.
TEST_F(CliTest, ExplainSaysWhatACompositeLacks) {
  EXPECT_THAT(Do({"explain", "@mlp.onnx", "--target=example_npu,llvm"}),
              HasSubstr("example_npu: as integer: only 8-bit integers"));
}

TEST_F(CliTest, SeveralBackendsInOneModel) {
  WriteMlpTestData(Path("data"));
  for (const char* target :
       {"ccompiler,examplejson,cblas,llvm", "examplejson,ccompiler,c"}) {
    Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot",
        std::string("--target=") + target, "--quiet"});
    Do({"verify", "@mlp.ingot", "--test-data=" + Path("data")});
  }
}

// A host's launcher and a device's commands: a folder for each key, in one set
// that is dumped, packed, linked and run.
TEST_F(CliTest, HostAndDeviceHaveFoldersOfTheirOwn) {
  std::ofstream(Path("product.relay")) << R"(module {
    func @main(%x: i8[2, 3]) -> (%y) {
      %w = const i8[3, 2] {1, -2, 3, 4, -5, 6}
      %s = matmul(%x, %w) {out_dtype=i32}
      %f = cast(%s) {dtype=f32}
      %y = tanh(%f)
    }
  })";
  Do({"compile", "@product.relay", "-o", "@product.ingot",
      "--target=npu: example_npu,llvm", "--quiet"});
  EXPECT_THAT(Do({"list", "@product.ingot"}),
              AllOf(HasSubstr("npu"), HasSubstr("host")));
  Do({"dump", "@product.ingot", "-o", "@dumped"});
  const auto exists = [this](const std::string& file) {
    return std::ifstream(Path("dumped") + file).good();
  };
  EXPECT_TRUE(exists("/host/example_npu/product_npu_0_launch.c"));
  EXPECT_TRUE(exists("/npu/example_npu/product_npu_0.npu"));
  EXPECT_FALSE(exists("/npu/example_npu/product_npu_0_launch.c"));
  Do({"pack", "@dumped", "-o", "@packed.ingot"});
  Do({"link", "@packed.ingot", "-o", "@product.so", "--quiet"});
  for (const char* set : {"@product.ingot", "@dumped", "@product.so"}) {
    Do({"verify", set, "--reference=" + Path("product.relay")});
  }
  // A processor is asked about the host's code alone.
  EXPECT_THAT(Do({"check", "@packed.ingot"}),
              AllOf(HasSubstr("target key host"), Not(HasSubstr("npu"))));
}

// The second of two targets that take every operator gets what is pinned to it.
// A driver compiles once: for the cache of `run`, or for a set, by `prepare`.
TEST_F(CliTest, WhatADriverCompiledIsKept) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--target=opencl,llvm",
      "--quiet"});
  const CommandResult first = Ingot({"run", "@mlp.ingot"});
  if (first.exit != 0) GTEST_SKIP() << first.err;
  EXPECT_THAT(first.out, HasSubstr("opencl: the driver compiled "
                                   "opencl/opencl/kernels.cl in "));
  EXPECT_THAT(Do({"run", "@mlp.ingot"}), Not(HasSubstr("the driver compiled")));
  const std::string said = Do({"prepare", "@mlp.ingot", "-o", "@built.ingot"});
  EXPECT_THAT(said, AllOf(HasSubstr("the driver compiled"),
                          HasSubstr("1 of them built by this machine's")));
  EXPECT_THAT(Do({"list", "@built.ingot"}), HasSubstr(".built"));
  // Nothing is left of the first run.
  setenv("XDG_CACHE_HOME", Path("another cache").c_str(), 1);
  EXPECT_THAT(Do({"run", "@built.ingot"}),
              Not(HasSubstr("the driver compiled")));
  EXPECT_THAT(Do({"prepare", "@built.ingot", "-o", "@again.ingot"}),
              HasSubstr("0 of them built"));
  // What was built is damaged, and made again.
  Do({"dump", "@built.ingot", "-o", "@dumped"});
  for (const auto& file :
       std::filesystem::directory_iterator(Path("dumped/opencl/opencl"))) {
    if (file.path().extension() == ".built") std::ofstream(file.path()) << "?";
  }
  EXPECT_THAT(
      Do({"prepare", "@dumped", "-o", "@again.ingot", "--accept-edits"}),
      HasSubstr("1 of them built"));
}

TEST_F(CliTest, ASecondHostGetsWhatIsPinned) {
  EXPECT_THAT(Do({"explain", "@mlp.onnx", "--target=llvm,c", "--pin=second:c"}),
              HasSubstr("second"));
}

constexpr char kGraph[] =
    "by_hand\n"
    "  input 0 2 2\n"
    "  input 1 2 2\n"
    "  add 2 inputs: 0 1 shape: 2 2\n";

TEST_F(CliTest, AFileThatIsOneArtifact) {
  WriteFileBytes(Path("graph.examplejson"), kGraph);
  EXPECT_THAT(Do({"run", "@graph.examplejson"}), HasSubstr("output0"));
  EXPECT_THAT(Do({"list", "@graph.examplejson"}),
              HasSubstr("graph.examplejson"));
  EXPECT_EQ(
      Do({"inspect", "@graph.examplejson", "--artifact=graph.examplejson"}),
      "by_hand(%0: f32[2, 2], %1: f32[2, 2]) -> (%2) {\n"
      "  %2: f32[2, 2] = add(%0, %1)\n"
      "}\n");
  // Nothing is known of a model.
  EXPECT_THAT(Do({"inspect", "@graph.examplejson"}),
              AllOf(HasSubstr("artifacts  1"), Not(HasSubstr("model"))));
  Do({"link", "@graph.examplejson", "-o", "@graph.so", "--quiet"});
  EXPECT_THAT(Do({"run", "@graph.so"}), HasSubstr("f32[2, 2]"));
}

TEST_F(CliTest, ABadFileIsOneClearError) {
  WriteFileBytes(Path("bad.examplejson"),
                 std::string(kGraph) + "  add 3 inputs: 2 9 shape: 2 2\n");
  ExpectError({"run", "@bad.examplejson"}, 1,
              {"bad.examplejson", "line 5", "'9' is no id of a line above"});
  ExpectError({"run", "@missing.examplejson"}, 1, {"missing.examplejson"});
}

}  // namespace
}  // namespace ingot
