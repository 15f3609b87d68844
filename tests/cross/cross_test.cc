// Published models compiled and linked for something else than this machine,
// run without Ingot, against what ONNX Runtime computed. $RUNNER has the words
// of a program that reads a model's inputs from .npy files and writes its
// outputs.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/pipeline/subprocess.h"
#include "tests/published/references.h"

namespace ingot {
namespace {

using nlohmann::json;

class CrossTest : public testing::TestWithParam<std::string> {};

TEST_P(CrossTest, ComputesWhatOnnxRuntimeComputes) {
  const std::string folder = testing::TempDir() + "/" + GetParam();
  std::filesystem::create_directories(folder);
  int runs = 0;
  for (const json& reference : References()) {
    if (reference["model"] != GetParam()) continue;
    ++runs;
    SCOPED_TRACE(reference["inputs"].dump());
    std::vector<std::string> words = absl::StrSplit(getenv("RUNNER"), ' ');
    words.insert(words.end(),
                 {"-o", folder + "/", ModelPaths().at(GetParam())});
    for (const std::string& path : WriteInputs(reference, folder)) {
      words.push_back(path);
    }
    const CommandResult run = RunCommand(words);
    ASSERT_EQ(run.exit, 0) << run.err << run.out;
    for (size_t k = 0; k < reference["outputs"].size(); ++k) {
      SCOPED_TRACE(absl::StrCat("output ", k));
      ExpectReference(ReadNpy(absl::StrCat(folder, "/", k, ".npy")),
                      reference["outputs"][k]);
    }
  }
  EXPECT_GT(runs, 0) << "references.json has nothing of " << GetParam();
}

std::vector<std::string> Models() {
  std::vector<std::string> names;
  for (const auto& [name, path] : ModelPaths()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, CrossTest, testing::ValuesIn(Models()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ingot
