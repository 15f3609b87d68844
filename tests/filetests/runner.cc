// Runs every file named on the command line as one test. With
// INGOT_REWRITE_EXPECTATIONS=1 it writes what came out into the files instead;
// then it wants the source tree, as `bazel run` gives it.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/filetests/codegen_category.h"
#include "tests/filetests/filetest.h"
#include "tests/filetests/relay_category.h"
#include "tests/filetests/tir_category.h"

namespace ingot::filetest {
namespace {

// Each part of Ingot adds its categories here.
Categories AllCategories() {
  Categories categories;
  AddCodegenCategories(&categories);
  AddRelayCategories(&categories);
  AddTirCategories(&categories);
  return categories;
}

bool Rewriting() {
  const char* value = std::getenv("INGOT_REWRITE_EXPECTATIONS");
  return value != nullptr && *value != '\0' && absl::string_view(value) != "0";
}

class FileTest : public testing::Test {
 public:
  explicit FileTest(std::string path) : path_(std::move(path)) {}

  void TestBody() override {
    std::ifstream in(path_);
    std::stringstream text;
    text << in.rdbuf();
    ASSERT_TRUE(in.good()) << "cannot read " << path_;
    absl::StatusOr<File> file = ParseFile(text.str());
    ASSERT_TRUE(file.ok()) << path_ << ": " << file.status();
    const Categories categories = AllCategories();
    for (Case& test : file->cases) {
      absl::StatusOr<Case> actual = RunCase(test, categories);
      ASSERT_TRUE(actual.ok())
          << path_ << ":" << test.line << ": " << actual.status();
      if (!Rewriting()) {
        const std::string difference = Difference(test, *actual);
        EXPECT_EQ(difference, "") << path_ << ":" << test.line << "\n"
                                  << difference;
      }
      test = *std::move(actual);
    }
    if (Rewriting()) Rewrite(FormatFile(*file), text.str());
  }

 private:
  void Rewrite(const std::string& text, const std::string& before) {
    if (text == before) return;
    const char* tree = std::getenv("BUILD_WORKSPACE_DIRECTORY");
    const std::string path =
        tree != nullptr ? absl::StrCat(tree, "/", path_) : path_;
    std::ofstream out(path);
    out << text;
    ASSERT_TRUE(out.good()) << "cannot write " << path;
    std::printf("rewrote %s\n", path.c_str());
  }

  const std::string path_;
};

}  // namespace
}  // namespace ingot::filetest

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string path = argv[i];
    testing::RegisterTest("FileTest", path.c_str(), nullptr, nullptr, __FILE__,
                          __LINE__, [path]() -> testing::Test* {
                            return new ingot::filetest::FileTest(path);
                          });
  }
  return RUN_ALL_TESTS();
}
