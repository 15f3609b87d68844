#include "loaders/build_cache.h"

#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

Artifact Built(const std::string& content) {
  Artifact built;
  built.file_name = "kernels.1.built";
  built.content = Blob::FromString(content);
  return built;
}

TEST(BuildCacheTest, KeepsTheLastOfAName) {
  const std::string folder = absl::StrCat(::testing::TempDir(), "/a/b");
  const auto cache = FolderBuildCache(folder);
  EXPECT_FALSE(cache->Find("kernels.1.built").has_value());
  cache->Keep(Built("first"));
  cache->Keep(Built("second"));
  const auto found = FolderBuildCache(folder)->Find("kernels.1.built");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->view(), "second");
  EXPECT_FALSE(cache->Find("kernels.2.built").has_value());
}

TEST(BuildCacheTest, WithoutAFolderKeepsNothing) {
  const std::string file = absl::StrCat(::testing::TempDir(), "/file");
  std::ofstream(file) << "in the way";
  for (const std::string& folder : {file, std::string()}) {
    const auto cache = FolderBuildCache(folder);
    cache->Keep(Built("code"));
    EXPECT_FALSE(cache->Find("kernels.1.built").has_value());
  }
}

}  // namespace
}  // namespace ingot
