// Published models compiled with -reproducible for several processors and by
// several compilers, and run in a C program, some of them by QEMU, or by
// Node.js: every output has the same bits, and is near what ONNX Runtime
// computed.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/pipeline/subprocess.h"
#include "tests/published/references.h"

namespace ingot {
namespace {

using nlohmann::json;

// Its elements as bytes.
std::string BytesOf(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw_data()), tensor.bytes()};
}

// The libraries of each model, by the names of their targets.
std::map<std::string, std::map<std::string, std::string>> Libraries() {
  std::map<std::string, std::map<std::string, std::string>> libraries;
  for (const auto& [name, path] : ModelPaths()) {
    const std::vector<std::string> words = absl::StrSplit(name, '.');
    libraries[words[0]][words[1]] = path;
  }
  return libraries;
}

// The words that run a library for that target.
std::vector<std::string> Program(const std::string& target) {
  if (absl::StartsWith(target, "aarch64")) {
    return {"/usr/bin/qemu-aarch64", "-L", "/usr/aarch64-linux-gnu",
            getenv("RUN_MODEL_AARCH64")};
  }
  if (absl::StartsWith(target, "riscv64")) {
    return {"/usr/bin/qemu-riscv64", "-L", "/usr/riscv64-linux-gnu",
            getenv("RUN_MODEL_RISCV64")};
  }
  if (target == "wasm") return {"/usr/bin/env", "node", getenv("RUN_IN_NODE")};
  return {getenv("RUN_MODEL")};
}

class ReproducibleModels : public testing::TestWithParam<std::string> {};

TEST_P(ReproducibleModels, HaveTheSameBitsEverywhere) {
  const std::map<std::string, std::string> libraries =
      Libraries().at(GetParam());
  ASSERT_GE(libraries.size(), 4);
  int runs = 0;
  for (const json& reference : References()) {
    if (reference["model"] != GetParam()) continue;
    ++runs;
    SCOPED_TRACE(reference["inputs"].dump());
    const std::string folder =
        absl::StrCat(testing::TempDir(), "/", GetParam(), runs);
    std::filesystem::create_directories(folder);
    const std::vector<std::string> inputs = WriteInputs(reference, folder);
    std::vector<std::string> first;
    for (const auto& [target, library] : libraries) {
      SCOPED_TRACE(target);
      const std::string prefix = absl::StrCat(folder, "/", target, ".");
      std::vector<std::string> words = Program(target);
      for (const std::string& word : {std::string("-o"), prefix, library}) {
        words.push_back(word);
      }
      words.insert(words.end(), inputs.begin(), inputs.end());
      const CommandResult run = RunCommand(words);
      ASSERT_EQ(run.exit, 0) << run.err << run.out;
      for (size_t k = 0; k < reference["outputs"].size(); ++k) {
        const Tensor got = ReadNpy(absl::StrCat(prefix, k, ".npy"));
        if (first.size() <= k) {
          first.push_back(BytesOf(got));
          ExpectReference(got, reference["outputs"][k]);
        }
        EXPECT_TRUE(BytesOf(got) == first[k]) << "output " << k << " differs";
      }
    }
  }
  EXPECT_GT(runs, 0) << "references.json has nothing of " << GetParam();
}

std::vector<std::string> Models() {
  std::vector<std::string> names;
  for (const auto& [name, libraries] : Libraries()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, ReproducibleModels,
                         testing::ValuesIn(Models()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ingot
