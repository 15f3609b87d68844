// A container of more than 4 GiB. Its weights are zeros, so neither memory nor
// disk hold them: they are one page mapped over and over, and a hole in a file.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "artifact/container.h"
#include "artifact/test_support.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using testing::MakeArtifact;

// More than 32 bits count, and no multiple of a page.
constexpr size_t kWeights = (size_t{4} << 30) + 12345;

Blob Zeros(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  return Blob::FromMemory(
      memory, size, std::shared_ptr<const void>(memory, [size](const void* p) {
        munmap(const_cast<void*>(p), size);
      }));
}

bool AllZero(absl::string_view bytes) {
  return bytes.empty() ||
         (bytes[0] == 0 &&
          std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

TEST(ContainerLargeTest, MoreThanFourGibibytes) {
  ArtifactSet set;
  Artifact weights = MakeArtifact("c", "constants", "host", "weights", "");
  weights.content = Zeros(kWeights);
  ASSERT_OK(set.Add(weights));
  ASSERT_OK(set.Add(MakeArtifact("z", "native", "host", "after", "code")));

  const std::string path = testing::TestFolder() + "/set.ingot";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  ASSERT_GE(fd, 0);
  unlink(path.c_str());
  uint64_t size = 0;
  ASSERT_OK(WriteContainerTo(set, [&](absl::string_view bytes) {
    const bool hole = AllZero(bytes);
    if (!hole &&
        pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(size)) !=
            static_cast<ssize_t>(bytes.size())) {
      return absl::ErrnoToStatus(errno, "pwrite");
    }
    size += bytes.size();
    return absl::OkStatus();
  }));
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(size)), 0);
  EXPECT_GT(size, uint64_t{kWeights});

  const absl::StatusOr<Blob> blob = Blob::MapFd(fd, path);
  close(fd);
  ASSERT_OK(blob);
  const auto back = ReadContainer(*blob);
  ASSERT_OK(back);
  const Artifact* read = back->Find("host", "c", "weights");
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->content.size(), kWeights);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read->content.data()) % 4096, 0u);
  const Artifact* after = back->Find("host", "z", "after");
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(after->content.view(), "code");
  EXPECT_GT(after->content.data() - blob->data(), ptrdiff_t{kWeights});
}

}  // namespace
}  // namespace ingot
