// A file is replaced whole or not at all.

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "artifact/container.h"
#include "artifact/test_support.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using testing::Exists;
using testing::Fails;
using testing::FilesBelow;
using testing::FileSizeLimit;
using testing::MakeArtifact;
using testing::ReadFile;
using testing::SmallSet;
using testing::TestFolder;
using testing::WriteFile;

TEST(WriteContainerTest, ReplacesAFile) {
  const std::string folder = TestFolder();
  WriteFile(folder + "/set.ingot", std::string(100000, 'x'));
  ASSERT_OK(WriteContainer(SmallSet(), folder + "/set.ingot"));
  EXPECT_EQ(ReadFile(folder + "/set.ingot"), *SerializeContainer(SmallSet()));
  EXPECT_EQ(FilesBelow(folder), std::vector<std::string>{"set.ingot"});
}

TEST(WriteContainerTest, MayReplaceTheFileThatTheSetIsMappedFrom) {
  const std::string path = TestFolder() + "/set.ingot";
  ASSERT_OK(WriteContainer(SmallSet(), path));
  absl::StatusOr<ArtifactSet> set = ReadContainerFile(path);
  ASSERT_OK(set);
  ASSERT_OK(set->Add(MakeArtifact("aaa", "native", "aaa", "first", "more")));
  ASSERT_OK(WriteContainer(*set, path));
  const auto back = ReadContainerFile(path);
  ASSERT_OK(back);
  EXPECT_TRUE(testing::SameSets(*set, *back));
}

// A limit on the size of files stands in for a full disk: writing stops in the
// middle of a payload with an error of the system.
TEST(WriteContainerTest, WhenTheDiskIsFullTheOldFileStays) {
  const std::string folder = TestFolder();
  const std::string path = folder + "/set.ingot";
  ASSERT_OK(WriteContainer(SmallSet(), path));
  const std::string before = ReadFile(path);
  ArtifactSet large = SmallSet();
  ASSERT_OK(large.Add(
      MakeArtifact("c", "native", "host", "large", std::string(3 << 20, 'x'))));
  {
    const FileSizeLimit limit(1 << 20);
    const absl::Status status = WriteContainer(large, path);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find(path), absl::string_view::npos) << status;
  }
  EXPECT_EQ(ReadFile(path), before);
  EXPECT_EQ(FilesBelow(folder), std::vector<std::string>{"set.ingot"});
  // Without the limit it works, so the limit was what failed.
  EXPECT_OK(WriteContainer(large, path));
}

TEST(WriteContainerTest, AMissingFolderIsAnError) {
  const std::string path = TestFolder() + "/none/set.ingot";
  EXPECT_TRUE(Fails(WriteContainer(SmallSet(), path),
                    absl::StatusCode::kNotFound, {path}));
  EXPECT_TRUE(Fails(WriteContainer(SmallSet(), ""),
                    absl::StatusCode::kInvalidArgument, {"empty"}));
}

TEST(WriteContainerTest, NeverReplacesADeviceOrAFolder) {
  const auto code = absl::StatusCode::kFailedPrecondition;
  const std::string folder = TestFolder();
  EXPECT_TRUE(Fails(WriteContainer(SmallSet(), folder), code, {folder}));
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(Fails(WriteContainer(SmallSet(), pipe), code, {pipe}));
  EXPECT_EQ(FilesBelow(folder), std::vector<std::string>{"pipe"});
}

TEST(WriteContainerTest, KeepsALinkAndReplacesWhatItNames) {
  const std::string folder = TestFolder();
  WriteFile(folder + "/real", "old");
  ASSERT_EQ(symlink("real", (folder + "/link").c_str()), 0);
  ASSERT_OK(WriteContainer(SmallSet(), folder + "/link"));
  struct stat info;
  ASSERT_EQ(lstat((folder + "/link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  EXPECT_EQ(ReadFile(folder + "/real"), *SerializeContainer(SmallSet()));
}

TEST(WriteContainerTest, TheLongestNamePossible) {
  const std::string path = TestFolder() + "/" + std::string(255, 'x');
  EXPECT_OK(WriteContainer(SmallSet(), path));
  EXPECT_TRUE(Exists(path));
}

TEST(WriteContainerTest, FollowsTheUsersMask) {
  const std::string path = TestFolder() + "/set.ingot";
  const mode_t old_mask = umask(027);
  const absl::Status status = WriteContainer(SmallSet(), path);
  umask(old_mask);
  ASSERT_OK(status);
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

}  // namespace
}  // namespace ingot
