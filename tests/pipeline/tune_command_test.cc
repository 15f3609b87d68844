// `ingot tune`, and compiling with what it found.
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::HasSubstr;
using testing::Not;

class TuneCommandTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    WriteMlpTestData(Path("data"));
  }

  // The value of an option in the provenance of the set at Path(set), or "".
  std::string Option(const std::string& set, const std::string& name) const {
    for (absl::string_view line :
         absl::StrSplit(Do({"inspect", "@" + set}), '\n')) {
      const std::vector<std::string> words =
          absl::StrSplit(line, ' ', absl::SkipEmpty());
      if (words.size() > 2 && words[0] == "option" && words[1] == name) {
        std::string value = words[2];
        for (size_t i = 3; i < words.size(); ++i) value += " " + words[i];
        return value;
      }
    }
    return "";
  }

  std::string Compile(const std::string& model, const std::string& log,
                      const std::string& set) const {
    return Do(
        {"compile", "@" + model, "-o", "@" + set, "--tuning-log=@" + log});
  }

  // The log with another point in each line.
  static std::string WithOtherRows(const std::string& log) {
    std::string changed;
    for (absl::string_view line : absl::StrSplit(log, '\n')) {
      const size_t best = line.find(" best=");
      const size_t rows = line.find("rows=", best);
      if (best == absl::string_view::npos || rows == absl::string_view::npos) {
        absl::StrAppend(&changed, line, "\n");
        continue;
      }
      const size_t end = line.find(',', rows);
      const bool is_one = line.substr(rows, end - rows) == "rows=1";
      absl::StrAppend(&changed, line.substr(0, rows),
                      is_one ? "rows=2" : "rows=1", line.substr(end), "\n");
    }
    return changed;
  }
};

TEST_F(TuneCommandTest, FindsParametersThatCompilingTakes) {
  const nlohmann::json found = DoJson(
      {"tune", "@mlp.onnx", "-o", "@log", "--trials=5", "--seconds=300"});
  ASSERT_GT(found["kernels"].size(), 0u);
  for (const nlohmann::json& kernel : found["kernels"]) {
    EXPECT_GT(kernel["before_ms"], 0);
    EXPECT_LE(kernel["after_ms"], kernel["before_ms"]);
    EXPECT_LE(kernel["measured"], 5 * kernel["operations"].size());
  }
  EXPECT_GT(found["ratio"], 0);
  const std::string log = ReadFile(Path("log"));
  EXPECT_THAT(log, HasSubstr("template=cpu.matmul"));
  // Two kernels had a choice, and both have it from the log.
  EXPECT_THAT(Compile("mlp.onnx", "log", "tuned"),
              HasSubstr("parameters of 2 of 2 kernels from "));
  EXPECT_EQ(Option("tuned", "tuned-kernels"), "2 of 2");
  EXPECT_EQ(Option("tuned", "tuning-log").size(), 64u);
  Do({"verify", "@tuned", "--test-data=@data"});
  // The same log gives the same bytes.
  Compile("mlp.onnx", "log", "again");
  EXPECT_EQ(ReadFile(Path("tuned")), ReadFile(Path("again")));
}

// On a GPU that is emulated: how long that takes says nothing, but what is
// found is what compiling takes.
TEST_F(TuneCommandTest, TunesKernelsOfDevices) {
  setenv("INGOT_FAKE_CUDA", "compute", /*overwrite=*/1);
  const std::string target = "--target=cuda -mcpu=sm_80,llvm";
  const nlohmann::json found = DoJson({"tune", "@mlp.onnx", "-o", "@log",
                                       "--trials=3", "--seconds=300", target});
  ASSERT_GT(found["kernels"].size(), 0u);
  const std::string log = ReadFile(Path("log"));
  EXPECT_THAT(log, HasSubstr("target=cuda/"));
  EXPECT_THAT(log, HasSubstr("template=gpu."));
  Do({"compile", "@mlp.onnx", "-o", "@tuned", "--tuning-log=@log", target});
  EXPECT_EQ(
      Option("tuned", "tuned-kernels"),
      absl::StrCat(found["kernels"].size(), " of ", found["kernels"].size()));
  Do({"verify", "@tuned", "--test-data=@data"});
  unsetenv("INGOT_FAKE_CUDA");
}

// Whatever the log names is what the code becomes, if it is a point at all.
TEST_F(TuneCommandTest, TheLogDecidesAndTheLastLineCounts) {
  Do({"tune", "@mlp.onnx", "-o", "@log", "--trials=2", "--quiet"});
  const std::string log = ReadFile(Path("log"));
  const std::string other = WithOtherRows(log);
  ASSERT_NE(other, log);
  WriteFileBytes(Path("other"), other);
  WriteFileBytes(Path("merged"), other + log);
  Compile("mlp.onnx", "log", "a");
  Compile("mlp.onnx", "other", "b");
  Compile("mlp.onnx", "merged", "c");
  const auto code = [&](const std::string& set) {
    Do({"dump", "@" + set, "-o", "@dumped_" + set});
    std::string all;
    for (const std::string& name :
         FilesIn(Path("dumped_" + set + "/host/llvm"))) {
      all += ReadFile(Path("dumped_" + set + "/host/llvm/" + name));
    }
    return all;
  };
  EXPECT_NE(code("a"), code("b"));
  EXPECT_EQ(code("a"), code("c"));
  Do({"verify", "@b", "--test-data=@data"});
}

TEST_F(TuneCommandTest, StaleAndForeignEntriesAreNotFound) {
  Do({"tune", "@mlp.onnx", "-o", "@log", "--trials=1", "--quiet"});
  Do({"compile", "@mlp.onnx", "-o", "@plain", "--quiet"});
  const std::string log = ReadFile(Path("log"));
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"ingot=", "ingot=9"},
      {"kernel=", "kernel=0"},
      {"target=llvm/", "target=llvm/0"},
      {"template=cpu.", "template=gpu."},
      {"best=", "best=lanes=3,"},
  };
  for (const auto& [from, to] : changes) {
    WriteFileBytes(Path("stale"), absl::StrReplaceAll(log, {{from, to}}));
    Compile("mlp.onnx", "stale", "set");
    EXPECT_EQ(Option("set", "tuned-kernels"), "0 of 2") << to;
  }
  // A log of another model, an empty one, and another processor.
  Compile("conv.onnx", "log", "conv");
  EXPECT_THAT(Option("conv", "tuned-kernels"), testing::StartsWith("0 of "));
  WriteFileBytes(Path("empty"), "");
  Compile("mlp.onnx", "empty", "set");
  EXPECT_EQ(Option("set", "tuned-kernels"), "0 of 2");
  Do({"compile", "@mlp.onnx", "-o", "@set", "--tuning-log=@log",
      "--target=llvm -mcpu=generic -mattr=+sse4.2", "--quiet"});
  EXPECT_EQ(Option("set", "tuned-kernels"), "0 of 2");
}

TEST_F(TuneCommandTest, LinesThatMakeNoSenseAreWarnings) {
  std::string log = "no log at all\nkernel=1 kernel=2\n";
  for (int i = 0; i < 10; ++i) log += "?\n";
  WriteFileBytes(Path("log"), log);
  const CommandResult result = Ingot(
      {"compile", "@mlp.onnx", "-o", "@set", "--tuning-log=@log", "--quiet"});
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("line 1 is left out: 'no' is no"));
  EXPECT_THAT(result.err, HasSubstr("line 2 is left out: two words kernel"));
  EXPECT_THAT(result.err, HasSubstr("7 more lines are left out"));
  ExpectError({"compile", "@mlp.onnx", "-o", "@set", "--tuning-log=@nowhere",
               "--quiet"},
              1, {"nowhere"});
}

// Another target's kernels are tuned by the same templates.
TEST_F(TuneCommandTest, TunesForOtherTargets) {
  const nlohmann::json found =
      DoJson({"tune", "@conv.onnx", "-o", "@log", "--target=c -mcpu=native",
              "--trials=2", "--seconds=300"});
  EXPECT_GT(found["kernels"].size(), 0u);
  EXPECT_THAT(ReadFile(Path("log")), HasSubstr("target=c/"));
  Do({"compile", "@conv.onnx", "-o", "@set", "--tuning-log=@log",
      "--target=c -mcpu=native", "--quiet"});
  EXPECT_THAT(Option("set", "tuned-kernels"), Not(testing::StartsWith("0 ")));
}

TEST_F(TuneCommandTest, WhatCannotBeTuned) {
  ExpectError({"tune", "@mlp.onnx", "-o", "@log", "--reproducible"}, 2,
              {"reproducible", "nothing to tune"});
  ExpectError(
      {"tune", "@mlp.onnx", "-o", "@log", "--target=llvm -reproducible=1"}, 2,
      {"reproducible"});
  WriteFileBytes(Path("log"), "");
  ExpectError({"compile", "@mlp.onnx", "-o", "@set", "--tuning-log=@log",
               "--reproducible"},
              2, {"--tuning-log", "same bits"});
  ExpectError({"tune", "@mlp.onnx", "-o", "@out", "--tuning-log=@log"}, 2,
              {"--tuning-log"});
  ExpectError({"tune", "@mlp.onnx", "-o", "@out",
               "--target=a: llvm; b: llvm -mcpu=x86-64-v3"},
              2, {"variant"});
  ExpectError({"tune", "@mlp.onnx", "-o", "@nowhere/log"}, 1, {"nowhere"});
  ExpectError({"tune", "@nothing.onnx", "-o", "@log"}, 1, {"nothing.onnx"});
}

}  // namespace
}  // namespace ingot
