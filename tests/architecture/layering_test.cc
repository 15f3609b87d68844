// Checks which room may call which against what the build says each room is
// built from.

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace {

std::vector<std::string> Deps(const std::string& room) {
  std::ifstream file(absl::StrCat("tests/architecture/", room, "_deps"));
  std::vector<std::string> labels;
  for (std::string line; std::getline(file, line);) labels.push_back(line);
  return labels;
}

struct Rule {
  std::string room;
  std::vector<std::string> never;  // starts of labels
};

class LayeringTest : public testing::TestWithParam<Rule> {};

TEST_P(LayeringTest, IsBuiltFromNothingAbove) {
  const std::vector<std::string> deps = Deps(GetParam().room);
  ASSERT_GT(deps.size(), 3u) << "the build said nothing of this room";
  for (const std::string& label : deps) {
    if (absl::StartsWith(label, "//tools/cc:")) continue;  // how it is compiled
    for (const std::string& start : GetParam().never) {
      EXPECT_FALSE(absl::StartsWith(label, start))
          << GetParam().room << " must not need " << label;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rooms, LayeringTest,
    testing::Values(
        Rule{"base",
             {"//artifact", "//isa", "//compiler", "//loaders", "//runtime",
              "//backends", "//tools", "@llvm//"}},
        Rule{"artifact",
             {"//compiler", "//loaders", "//runtime", "//backends", "//tools",
              "@llvm//"}},
        Rule{"isa",
             {"//artifact", "//compiler", "//loaders", "//runtime",
              "//backends", "//tools"}},
        Rule{"runtime",
             {"//compiler", "//loaders", "//backends", "//tools", "@llvm//"}},
        Rule{"loaders", {"//compiler", "//backends", "//tools"}},
        // A deployed program links no code generator, no linker,
        // and nothing that only people who look at artifacts need.
        Rule{"deployed",
             {"//compiler", "//backends", "//tools", "@llvm//",
              "//artifact:directory", "//artifact:inspector",
              "//artifact:text_inspectors"}},
        Rule{"compiler", {"//loaders", "//backends", "//tools"}},
        // A program of its own compiles and links.
        Rule{"ingot",
             {"//compiler", "//loaders/native:linker", "//isa:needed_features",
              "//backends/llvmjit", "@llvm//", "@onnx//"}}),
    [](const auto& info) { return info.param.room; });

}  // namespace
