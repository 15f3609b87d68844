// docs/bring_your_own_codegen.md, step by step: its files are those of
// examples/out_of_tree_backend, its commands run, its table counts right.

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// A fenced part of the page: "```cc my_cc/codegen.h".
struct Block {
  std::string language, path, text;
};

std::string Page() { return ReadFile("docs/bring_your_own_codegen.md"); }

std::vector<Block> Blocks() {
  std::vector<Block> blocks;
  bool inside = false;
  for (absl::string_view line : absl::StrSplit(Page(), '\n')) {
    if (absl::StartsWith(line, "```")) {
      inside = !inside;
      if (!inside) continue;
      const std::vector<std::string> words =
          absl::StrSplit(line.substr(3), ' ');
      blocks.push_back({words[0], words.size() > 1 ? words[1] : "", ""});
    } else if (inside) {
      absl::StrAppend(&blocks.back().text, line, "\n");
    }
  }
  return blocks;
}

// The path at which this test finds a file of the example.
std::string Example(const std::string& path) {
  return "external/out_of_tree_backend/" + path;
}

TEST(BringYourOwnCodegen, ShowsTheFilesOfTheExample) {
  std::vector<std::string> shown;
  for (const Block& block : Blocks()) {
    if (block.path.empty() || block.language == "c") continue;
    shown.push_back(block.path);
    const bool is_ingots = absl::StartsWith(block.path, "backends/");
    EXPECT_EQ(block.text,
              ReadFile(is_ingots ? block.path : Example(block.path)))
        << block.path;
  }
  // And all of them: nobody has to find out about another one.
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(Example(""))) {
    if (entry.is_directory()) continue;
    const std::string path =
        entry.path().lexically_relative(Example("")).string();
    if (path == "README.md" || path == "my_ingot" ||
        path == "my_ingot-compiler") {
      continue;
    }
    files.push_back(path);
  }
  EXPECT_THAT(files, ::testing::IsSubsetOf(shown));
  EXPECT_GE(files.size(), 15u);
}

class CommandsTest : public CliTest {};

// Every command without a file's name, in one folder, in order.
TEST_F(CommandsTest, Run) {
  fs::rename(Path("mlp.onnx"), Path("model.onnx"));
  const std::string here = fs::current_path().string();
  const std::map<std::string, std::string> programs = {
      {"ingot", absl::StrCat(here, "/", getenv("INGOT_BINARY"))},
      {"bazel-bin/my_ingot", absl::StrCat(here, "/", getenv("MY_INGOT"))}};
  std::map<std::string, int> ran;
  std::map<std::string, std::string> printed;  // by the command's words
  for (const Block& block : Blocks()) {
    if (block.language != "sh" || !block.path.empty()) continue;
    const std::vector<std::string> lines =
        absl::StrSplit(block.text, '\n', absl::SkipEmpty());
    for (std::string line : lines) {
      const std::string words = line;
      const std::string program(line.substr(0, line.find(' ')));
      ++ran[program];
      // This build and the test suite beside this test have just done that.
      if (program == "bazel") continue;
      auto it = programs.find(program);
      if (it != programs.end()) {
        line = absl::StrCat(it->second, line.substr(program.size()));
      }
      CommandOptions options;
      options.folder = Path("");
      const CommandResult result = RunCommand({"/bin/sh", "-c", line}, options);
      EXPECT_EQ(result.exit, 0) << line << "\n" << result.err;
      printed[words] = result.out;
    }
  }
  EXPECT_EQ(ran["bazel"], 2);
  EXPECT_GE(ran["bazel-bin/my_ingot"], 9);
  EXPECT_GE(ran["ingot"], 9);
  const std::string command = "bazel-bin/my_ingot ";
  EXPECT_THAT(printed[command + "targets"],
              ::testing::AllOf(::testing::HasSubstr("my_cc: "),
                               ::testing::HasSubstr("my_graph: "),
                               ::testing::HasSubstr("llvm: ")));
  EXPECT_THAT(printed[command + "explain model.onnx --target=my_cc,llvm"],
              ::testing::HasSubstr("only leaky_relu, neg and relu"));
  EXPECT_THAT(printed[command + "inspect my_graph.ingot "
                                "--artifact=model_my_graph_0.my_graph"],
              ::testing::HasSubstr("(x) = relu(x), x: f32[2, 32]"));
  // The C that the page shows is what came out.
  int shown = 0;
  for (const Block& block : Blocks()) {
    if (block.language != "c") continue;
    ++shown;
    EXPECT_THAT(ReadFile(Path(block.path)), ::testing::HasSubstr(block.text));
  }
  EXPECT_EQ(shown, 2);
}

// Whether a file of a backend is what loads its artifacts, or a part of its
// device.
bool IsOfLoader(const std::string& file) {
  for (const char* part : {"loader", "device", "queue", "graph"}) {
    if (absl::StartsWith(file, part)) return true;
  }
  return false;
}

// Lines that are neither blank nor a comment.
int CountLines(const std::vector<std::string>& files) {
  int count = 0;
  for (const std::string& file : files) {
    for (absl::string_view line : absl::StrSplit(ReadFile(file), '\n')) {
      line = absl::StripLeadingAsciiWhitespace(line);
      count += !line.empty() && !absl::StartsWith(line, "//");
    }
  }
  return count;
}

TEST(BringYourOwnCodegen, CountsTheLinesOfBackends) {
  int rows = 0;
  for (absl::string_view line : absl::StrSplit(Page(), '\n')) {
    if (!absl::StartsWith(line, "| `") || !absl::EndsWith(line, "| 1 |")) {
      continue;
    }
    const std::vector<std::string> cells = absl::StrSplit(line, " | ");
    const std::string name =
        absl::StrReplaceAll(cells[0], {{"| ", ""}, {"`", ""}});
    std::vector<std::string> codegen, loader, tests;
    for (const auto& entry : fs::directory_iterator("backends/" + name)) {
      const std::string file = entry.path().filename().string();
      if (!absl::EndsWith(file, ".cc") && !absl::EndsWith(file, ".h") &&
          !absl::EndsWith(file, ".proto")) {
        continue;
      }
      // Inspectors are an addition.
      if (absl::StartsWith(file, "inspectors")) continue;
      std::vector<std::string>& list = absl::StrContains(file, "_test") ? tests
                                       : IsOfLoader(file)               ? loader
                                                          : codegen;
      list.push_back(entry.path().string());
    }
    const int of_loader = CountLines(loader);
    EXPECT_LE(of_loader, 400) << "more than a device is worth";
    EXPECT_TRUE(absl::StartsWith(
        line,
        absl::StrCat("| `", name, "` | ", CountLines(codegen), " | ",
                     of_loader == 0 ? "`native`" : absl::StrCat(of_loader),
                     " | ")))
        << line;
    // A line more or less in a test is no reason to change the page.
    ASSERT_EQ(cells.size(), 5u) << line;
    const double of_tests = CountLines(tests);
    EXPECT_NEAR(std::atof(cells[3].c_str()), of_tests, of_tests / 20) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 5);
}

}  // namespace
}  // namespace ingot
