#include "artifact/blob.h"

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "artifact/test_support.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using testing::Fails;
using testing::TestFolder;
using testing::WriteFile;

TEST(BlobTest, IsEmptyByDefault) {
  const Blob blob;
  EXPECT_TRUE(blob.empty());
  EXPECT_EQ(blob.view(), "");
  EXPECT_EQ(blob.owner(), nullptr);
}

TEST(BlobTest, TakesOverAStringWithoutACopy) {
  std::string bytes(1000, 'x');
  const void* at = bytes.data();
  const Blob blob = Blob::FromString(std::move(bytes));
  EXPECT_EQ(blob.data(), at);
  EXPECT_EQ(blob.size(), 1000u);
}

TEST(BlobTest, SliceKeepsTheOwnerAlive) {
  auto owner = std::make_shared<std::string>("hello world");
  const std::weak_ptr<std::string> watch = owner;
  Blob slice;
  {
    const Blob whole =
        Blob::FromMemory(owner->data(), owner->size(), std::move(owner));
    slice = whole.Slice(6, 5);
  }
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(slice.view(), "world");
  slice = Blob();
  EXPECT_TRUE(watch.expired());
}

TEST(BlobTest, SliceCutsOffWhatLiesOutside) {
  const Blob blob = Blob::FromString("abcdef");
  EXPECT_EQ(blob.Slice(4, 10).view(), "ef");
  EXPECT_EQ(blob.Slice(4, SIZE_MAX).view(), "ef");
  EXPECT_EQ(blob.Slice(SIZE_MAX, SIZE_MAX).view(), "");
  EXPECT_EQ(blob.Slice(2, 3).Slice(1, 9).view(), "de");
  EXPECT_EQ(Blob().Slice(3, 3).view(), "");
}

TEST(BlobTest, CopyAlignedAligns) {
  const Blob blob = Blob::CopyAligned("some bytes", 4096);
  EXPECT_EQ(blob.view(), "some bytes");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(blob.data()) % 4096, 0u);
}

TEST(BlobTest, MapsAFile) {
  const std::string path = TestFolder() + "/file";
  WriteFile(path, "mapped");
  const absl::StatusOr<Blob> blob = Blob::MapFile(path);
  ASSERT_OK(blob);
  EXPECT_EQ(blob->view(), "mapped");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(blob->data()) % 4096, 0u);
}

TEST(BlobTest, MapsAnEmptyFile) {
  const std::string path = TestFolder() + "/file";
  WriteFile(path, "");
  const absl::StatusOr<Blob> blob = Blob::MapFile(path);
  ASSERT_OK(blob);
  EXPECT_EQ(blob->size(), 0u);
}

TEST(BlobTest, RefusesWhatIsNoRegularFile) {
  const std::string folder = TestFolder();
  EXPECT_TRUE(Fails(Blob::MapFile(folder).status(),
                    absl::StatusCode::kInvalidArgument,
                    {folder, "is a folder"}));
  EXPECT_TRUE(Fails(Blob::MapFile(folder + "/none").status(),
                    absl::StatusCode::kNotFound, {folder + "/none"}));
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(Fails(Blob::MapFile(pipe).status(),
                    absl::StatusCode::kInvalidArgument, {pipe}));
}

}  // namespace
}  // namespace ingot
