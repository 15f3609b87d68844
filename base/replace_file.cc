#include "base/replace_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

absl::Status Failed(absl::string_view verb, absl::string_view name) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot ", verb, " ", name));
}

// The file to replace: `path`, or what it names if it is a link.
absl::StatusOr<std::string> Destination(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return path;
    return Failed("write", path);
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot write ", path, ": it is not a regular file"));
  }
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return Failed("write", path);
  std::string destination(resolved);
  free(resolved);
  return destination;
}

// Names that no other process and no other thread picks at the same time.
std::string TemporaryName(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  const size_t slash = path.rfind('/');
  const size_t base = slash == std::string::npos ? 0 : slash + 1;
  // Cut, so that the longest name that a file can have stays possible.
  return absl::StrCat(path.substr(0, base), ".", path.substr(base, 180), ".",
                      getpid(), "-", counter++, ".tmp");
}

// The name by which the system knows what a descriptor is of.
std::string NameOf(int fd) { return absl::StrCat("/proc/self/fd/", fd); }

// A process of the same number that died may have left its file behind.
constexpr int kAttempts = 100;

// A new file without a name in the folder of `path`, which is gone with this
// process, however that ends; -1 where there can be none.
int OpenUnnamed(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  // Its name is given by way of this one.
  if (fd < 0 || access(NameOf(fd).c_str(), F_OK) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

absl::Status WriteAll(int fd, absl::string_view bytes, absl::string_view name) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return Failed("write", name);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::StatusOr<ReplaceFile> ReplaceFile::Open(absl::string_view path) {
  if (path.empty()) {
    return absl::InvalidArgumentError("the name of the file to write is empty");
  }
  INGOT_ASSIGN_OR_RETURN(std::string destination,
                         Destination(std::string(path)));
  if (const int fd = OpenUnnamed(destination); fd >= 0) {
    return ReplaceFile(fd, "", std::move(destination), std::string(path));
  }
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string temporary = TemporaryName(destination);
    const int fd =
        open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      return ReplaceFile(fd, std::move(temporary), std::move(destination),
                         std::string(path));
    }
    if (errno != EEXIST) break;
  }
  return Failed("write", path);
}

ReplaceFile::ReplaceFile(int fd, std::string temporary, std::string path,
                         std::string shown)
    : fd_(fd),
      temporary_(std::move(temporary)),
      path_(std::move(path)),
      shown_(std::move(shown)) {}

ReplaceFile::ReplaceFile(ReplaceFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      temporary_(std::exchange(other.temporary_, "")),
      path_(std::move(other.path_)),
      shown_(std::move(other.shown_)) {}

ReplaceFile::~ReplaceFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status ReplaceFile::Append(absl::string_view bytes) {
  return WriteAll(fd_, bytes, shown_);
}

absl::Status ReplaceFile::Sync() {
  return fsync(fd_) == 0 ? absl::OkStatus() : Failed("write", shown_);
}

absl::Status ReplaceFile::Commit() {
  INGOT_RETURN_IF_ERROR(Sync());
  // Its own name at once where that is free: an interruption then finds no
  // temporary file to leave behind.
  bool is_there = false;
  std::string name = path_;
  for (int attempt = 0; temporary_.empty() && !is_there; ++attempt) {
    if (linkat(AT_FDCWD, NameOf(fd_).c_str(), AT_FDCWD, name.c_str(),
               AT_SYMLINK_FOLLOW) == 0) {
      is_there = attempt == 0;
      if (!is_there) temporary_ = std::move(name);
    } else if (errno != EEXIST || attempt == kAttempts) {
      return Failed("write", shown_);
    } else {
      name = TemporaryName(path_);
    }
  }
  if (close(std::exchange(fd_, -1)) != 0) return Failed("write", shown_);
  if (!is_there && rename(temporary_.c_str(), path_.c_str()) != 0) {
    return Failed("write", shown_);
  }
  temporary_.clear();
  // So that the new name survives a power cut. The file is complete without it,
  // and some file systems cannot do it, so a failure is not one.
  const size_t slash = path_.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  if (const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      fd >= 0) {
    fsync(fd);
    close(fd);
  }
  return absl::OkStatus();
}

absl::Status ReplaceFileWith(absl::string_view path, absl::string_view bytes) {
  absl::StatusOr<ReplaceFile> file = ReplaceFile::Open(path);
  if (!file.ok()) return file.status();
  absl::Status status = file->Append(bytes);
  if (status.ok()) status = file->Commit();
  return status;
}

}  // namespace ingot
