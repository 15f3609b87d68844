#include "tools/ingot/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/files_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  static std::string Read(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  size_t CountFiles() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      (void)entry;
      ++count;
    }
    return count;
  }

  std::string folder_;
};

TEST_F(FilesTest, ReplacesAFileAndLeavesNothingElse) {
  const std::string path = folder_ + "/out";
  ASSERT_TRUE(WriteFile(path, "old").ok());
  ASSERT_TRUE(WriteFile(path, "new").ok());
  EXPECT_EQ(Read(path), "new");
  EXPECT_EQ(CountFiles(), 1u);
}

TEST_F(FilesTest, WhatIsNotCommittedVanishes) {
  {
    FileBatch batch;
    ASSERT_TRUE(batch.Add(folder_ + "/a", "a").ok());
    ASSERT_TRUE(batch.Add(folder_ + "/b", "b").ok());
    EXPECT_FALSE(fs::exists(folder_ + "/a"));
  }
  EXPECT_EQ(CountFiles(), 0u);
}

TEST_F(FilesTest, AllOfABatchAppear) {
  FileBatch batch;
  ASSERT_TRUE(batch.Add(folder_ + "/a", "1").ok());
  ASSERT_TRUE(batch.Add(folder_ + "/b", "2").ok());
  ASSERT_TRUE(batch.Commit().ok());
  EXPECT_EQ(Read(folder_ + "/a") + Read(folder_ + "/b"), "12");
}

TEST_F(FilesTest, ALinkStays) {
  const std::string real = folder_ + "/real", link = folder_ + "/link";
  ASSERT_TRUE(WriteFile(real, "old").ok());
  fs::create_symlink("real", link);
  ASSERT_TRUE(WriteFile(link, "new").ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(Read(real), "new");
}

TEST_F(FilesTest, SaysWhyAFileCannotBeWritten) {
  const absl::Status folder = WriteFile(folder_, "x");
  EXPECT_EQ(folder.code(), absl::StatusCode::kFailedPrecondition);
  const absl::Status missing = WriteFile(folder_ + "/no/out", "x");
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), testing::HasSubstr("/no"));
  EXPECT_EQ(WriteFile("/dev/full", "x").code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(FilesTest, MakesAFolderOnce) {
  EXPECT_TRUE(MakeFolder(folder_ + "/new").ok());
  EXPECT_TRUE(MakeFolder(folder_ + "/new").ok());
  EXPECT_TRUE(IsFolder(folder_ + "/new"));
  EXPECT_FALSE(MakeFolder(folder_ + "/no/new").ok());
  ASSERT_TRUE(WriteFile(folder_ + "/file", "").ok());
  EXPECT_FALSE(MakeFolder(folder_ + "/file").ok());
}

TEST(SafeFileNameTest, NamesStayInTheirFolder) {
  EXPECT_EQ(SafeFileName("../../etc/passwd"), "_._.._etc_passwd");
  EXPECT_EQ(SafeFileName("serving_default:0"), "serving_default_0");
  EXPECT_EQ(SafeFileName(""), "_");
  EXPECT_EQ(SafeFileName(std::string(500, 'a')).size(), 128u);
}

}  // namespace
}  // namespace ingot
