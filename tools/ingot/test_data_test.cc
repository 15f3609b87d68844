#include "tools/ingot/test_data.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/ingot/verdict.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class TestDataTest : public ::testing::Test {
 protected:
  TestDataTest() : root_(fs::path(testing::TempDir()) / "data") {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }

  void Write(const std::string& file) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << "";
  }
  std::string root() const { return root_.string(); }

 private:
  const fs::path root_;
};

TEST_F(TestDataTest, FoldersInTheOrderOfTheirNumbers) {
  for (const char* set : {"10", "9"}) {
    Write(absl::StrCat("test_data_set_", set, "/input_0.pb"));
    Write(absl::StrCat("test_data_set_", set, "/output_0.pb"));
    Write(absl::StrCat("test_data_set_", set, "/output_1.pb"));
  }
  const auto sets = FindTestData(root());
  ASSERT_TRUE(sets.ok()) << sets.status();
  ASSERT_THAT(*sets, SizeIs(2));
  EXPECT_EQ((*sets)[0].name, "test_data_set_9");
  EXPECT_EQ((*sets)[1].name, "test_data_set_10");
  EXPECT_THAT((*sets)[1].inputs, SizeIs(1));
  EXPECT_THAT((*sets)[1].outputs[1], EndsWith("_10/output_1.pb"));
}

// Inputs alone are enough to run a model.
TEST_F(TestDataTest, OutputsMayBeMissingUntilTheyAreCompared) {
  Write("input_0.pb");
  const auto sets = FindTestData(root() + "/");
  ASSERT_TRUE(sets.ok()) << sets.status();
  ASSERT_THAT(*sets, SizeIs(1));
  EXPECT_THAT((*sets)[0].inputs, SizeIs(1));
  EXPECT_THAT((*sets)[0].outputs, SizeIs(0));
  EXPECT_THAT(ReadCase((*sets)[0], {}, {}).status().message(),
              HasSubstr(": has no output_0.pb to compare with"));
}

TEST_F(TestDataTest, SaysWhatIsMissing) {
  EXPECT_EQ(FindTestData(root()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(FindTestData(root()).status().message(),
              HasSubstr("neither test_data_set_* folders nor input_*.pb"));
  Write("output_0.pb");
  Write("output_2.pb");
  EXPECT_THAT(FindTestData(root()).status().message(),
              HasSubstr("has output_2.pb but no output_1.pb"));
}

}  // namespace
}  // namespace ingot
