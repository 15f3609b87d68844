// Published models compiled with -reproducible and run with different numbers
// of threads: every output has the same bits.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/pipeline/cli_fixture.h"
#include "tests/published/references.h"

namespace ingot {
namespace {

// The files of a folder, by their names.
std::map<std::string, std::string> FilesOf(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().filename().string()] = {
        std::istreambuf_iterator<char>(file), {}};
  }
  return files;
}

class ReproducibleThreads : public CliTest,
                            public testing::WithParamInterface<std::string> {
 protected:
  // Writes the inputs of one reference; returns the words that give them.
  std::vector<std::string> Inputs(const nlohmann::json& reference) {
    std::vector<std::string> words = WriteInputs(reference, Path(""));
    for (size_t i = 0; i < words.size(); ++i) {
      words[i] = absl::StrCat(
          "--input=", reference["inputs"][i]["name"].get<std::string>(), ":",
          words[i]);
    }
    return words;
  }

  // What the model computes of them with that many threads, as .npy files.
  std::map<std::string, std::string> Outputs(
      const std::vector<std::string>& inputs, int threads) {
    const std::string folder = Path(absl::StrCat("on_", threads));
    std::filesystem::remove_all(folder);
    std::vector<std::string> words = {"run", ModelPaths().at(GetParam()),
                                      absl::StrCat("--threads=", threads),
                                      "--output-dir=" + folder};
    words.insert(words.end(), inputs.begin(), inputs.end());
    Do(words);
    return FilesOf(folder);
  }
};

TEST_P(ReproducibleThreads, ComputeTheSameBits) {
  int runs = 0;
  for (const nlohmann::json& reference : References()) {
    if (reference["model"] != GetParam()) continue;
    ++runs;
    SCOPED_TRACE(runs);
    const std::vector<std::string> inputs = Inputs(reference);
    const std::map<std::string, std::string> alone = Outputs(inputs, 1);
    ASSERT_EQ(alone.size(), reference["outputs"].size());
    for (const int threads : {2, 7}) {
      SCOPED_TRACE(threads);
      const std::map<std::string, std::string> together =
          Outputs(inputs, threads);
      ASSERT_EQ(together.size(), alone.size());
      for (const auto& [name, bytes] : alone) {
        EXPECT_TRUE(together.at(name) == bytes) << name << " differs";
      }
    }
  }
  EXPECT_GT(runs, 0) << "references.json has nothing of " << GetParam();
}

std::vector<std::string> Models() {
  std::vector<std::string> names;
  for (const auto& [name, path] : ModelPaths()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, ReproducibleThreads,
                         testing::ValuesIn(Models()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ingot
