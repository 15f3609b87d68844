// Shared by the tests of the `ingot` command: a folder, models in it, and the
// command itself.

#ifndef INGOT_TESTS_PIPELINE_CLI_FIXTURE_H_
#define INGOT_TESTS_PIPELINE_CLI_FIXTURE_H_

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/pipeline/models.h"
#include "tests/pipeline/subprocess.h"

namespace ingot {

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

inline void WriteFileBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class CliTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '_');
    folder_ = testing::TempDir() + "/cli_" + name;
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    // Sets that are not linked are linked in this cache.
    setenv("XDG_CACHE_HOME", Path("cache").c_str(), 1);
    WriteMlp(Path("mlp.onnx"));
    WriteConvNet(Path("conv.onnx"));
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A file in the test's own folder.
  std::string Path(const std::string& name) const {
    return folder_ + "/" + name;
  }

  // Runs `ingot` with words in which "@x" stands for Path("x").
  CommandResult Ingot(std::vector<std::string> args,
                      const CommandOptions& options = {}) const {
    for (std::string& arg : args) {
      const size_t at = arg.find('@');
      if (at != std::string::npos) {
        arg = arg.substr(0, at) + Path(arg.substr(at + 1));
      }
    }
    // The test's runfiles have it where the build says.
    static const std::string* const binary = new std::string(
        std::filesystem::absolute(getenv("INGOT_BINARY")).string());
    args.insert(args.begin(), *binary);
    return RunCommand(args, options);
  }

  // The same for a call that must succeed; returns what it printed.
  std::string Do(const std::vector<std::string>& args) const {
    const CommandResult result = Ingot(args);
    EXPECT_EQ(result.exit, 0) << testing::PrintToString(args) << result.err;
    EXPECT_EQ(WithoutProgress(result.err), "");
    return result.out;
  }

  // Returns what a call said without its lines on progress, such as
  // "[ 40%] linking", which only a busy machine prints.
  static std::string WithoutProgress(const std::string& err) {
    std::string rest;
    for (absl::string_view line : absl::StrSplit(err, '\n')) {
      const bool is_progress =
          absl::StartsWith(line, "[") && line.find("%] ") == 4;
      if (!is_progress && !line.empty()) absl::StrAppend(&rest, line, "\n");
    }
    return rest;
  }

  // The JSON in the last line of what a call printed.
  nlohmann::json DoJson(std::vector<std::string> args) const {
    args.push_back("--json");
    const std::string out = Do(args);
    const std::vector<std::string> lines =
        absl::StrSplit(absl::StripSuffix(out, "\n"), '\n');
    nlohmann::json json = nlohmann::json::parse(lines.back(), nullptr,
                                                /*allow_exceptions=*/false);
    EXPECT_TRUE(json.is_object()) << out;
    return json;
  }

  // A call that must fail: the status, and one line that has all of `parts`.
  void ExpectError(const std::vector<std::string>& args, int exit,
                   const std::vector<std::string>& parts,
                   const CommandOptions& options = {}) const {
    const CommandResult result = Ingot(args, options);
    SCOPED_TRACE(testing::PrintToString(args) + result.err);
    EXPECT_EQ(result.exit, exit);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
    EXPECT_TRUE(absl::StartsWith(result.err, "ingot: "));
    EXPECT_TRUE(absl::EndsWith(result.err, "\n"));
    for (const std::string& part : parts) {
      EXPECT_THAT(result.err, testing::HasSubstr(part));
    }
  }

  // The names in a folder, sorted.
  std::vector<std::string> FilesIn(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string folder_;
};

}  // namespace ingot

#endif  // INGOT_TESTS_PIPELINE_CLI_FIXTURE_H_
