#include "artifact/blob.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ingot {

Blob Blob::FromString(std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  return Blob(owner->data(), owner->size(), owner);
}

Blob Blob::FromMemory(const void* data, size_t size,
                      std::shared_ptr<const void> owner) {
  return Blob(data, size, std::move(owner));
}

Blob Blob::CopyAligned(absl::string_view bytes, size_t alignment) {
  if (bytes.empty()) return Blob();
  const std::align_val_t align{alignment};
  void* memory = ::operator new(bytes.size(), align);
  std::memcpy(memory, bytes.data(), bytes.size());
  std::shared_ptr<const void> owner(memory, [align](const void* p) {
    ::operator delete(const_cast<void*>(p), align);
  });
  return Blob(memory, bytes.size(), std::move(owner));
}

absl::StatusOr<Blob> Blob::MapFile(absl::string_view path) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const std::string name(path);
  const int fd = open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  absl::StatusOr<Blob> blob = MapFd(fd, path);
  close(fd);
  return blob;
}

absl::StatusOr<Blob> Blob::MapFd(int fd, absl::string_view name) {
  struct stat info;
  if (fstat(fd, &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", name));
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, S_ISDIR(info.st_mode) ? " is a folder, not a file"
                                                 : " is not a regular file"));
  }
  if (info.st_size == 0) return Blob();
  if (static_cast<uint64_t>(info.st_size) >
      std::numeric_limits<size_t>::max()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(name, " is larger than the address space"));
  }
  const size_t size = static_cast<size_t>(info.st_size);
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (memory == MAP_FAILED) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot map ", name));
  }
  std::shared_ptr<const void> owner(
      memory, [size](const void* p) { munmap(const_cast<void*>(p), size); });
  return Blob(memory, size, std::move(owner));
}

Blob Blob::Slice(size_t offset, size_t size) const {
  offset = std::min(offset, size_);
  size = std::min(size, size_ - offset);
  // A null pointer has no offset but zero, which adding nothing keeps.
  return Blob(data_ == nullptr ? nullptr : data_ + offset, size, owner_);
}

}  // namespace ingot
