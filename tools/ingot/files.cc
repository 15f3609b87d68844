#include "tools/ingot/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

absl::Status SystemError(absl::string_view path, int error) {
  const std::string message = absl::StrCat(path, ": ", strerror(error));
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(message);
    case ENOENT:
      return absl::NotFoundError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    default:
      return absl::FailedPreconditionError(message);
  }
}

// The path that writing to `path` replaces: a link stays, its file is replaced.
std::string Resolve(absl::string_view path) {
  std::error_code error;
  const std::filesystem::path real =
      std::filesystem::weakly_canonical(std::string(path), error);
  return error ? std::string(path) : real.string();
}

std::string Folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

absl::Status WriteAndSync(int fd, absl::string_view path,
                          absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(path, errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  if (fsync(fd) != 0) return SystemError(path, errno);
  return absl::OkStatus();
}

}  // namespace

FileBatch::~FileBatch() {
  for (const auto& [temporary, path] : files_) unlink(temporary.c_str());
}

absl::Status FileBatch::Add(absl::string_view path, absl::string_view bytes) {
  INGOT_RETURN_IF_ERROR(CheckWritable(path));
  const std::string real = Resolve(path);
  std::string temporary = absl::StrCat(real, ".XXXXXX");
  const int fd = mkostemp(&temporary[0], O_CLOEXEC);
  if (fd < 0) return SystemError(path, errno);
  files_.emplace_back(temporary, real);
  // mkostemp makes a file that only its owner may read.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  absl::Status status = WriteAndSync(fd, path, bytes);
  if (close(fd) != 0 && status.ok()) status = SystemError(path, errno);
  return status;
}

absl::Status FileBatch::Commit() {
  while (!files_.empty()) {
    const auto& [temporary, path] = files_.back();
    if (rename(temporary.c_str(), path.c_str()) != 0) {
      return SystemError(path, errno);
    }
    files_.pop_back();
  }
  return absl::OkStatus();
}

absl::Status WriteFile(absl::string_view path, absl::string_view bytes) {
  FileBatch batch;
  INGOT_RETURN_IF_ERROR(batch.Add(path, bytes));
  return batch.Commit();
}

absl::Status CheckWritable(absl::string_view path) {
  const std::string real = Resolve(path);
  struct stat info;
  if (stat(real.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is not a regular file"));
  }
  const std::string folder = Folder(real);
  if (stat(folder.c_str(), &info) != 0) {
    return SystemError(absl::StrCat(path, ": its folder ", folder), errno);
  }
  if (!S_ISDIR(info.st_mode)) {
    return SystemError(absl::StrCat(path, ": its folder ", folder), ENOTDIR);
  }
  if (access(folder.c_str(), W_OK) != 0) {
    return SystemError(absl::StrCat(path, ": its folder ", folder), errno);
  }
  return absl::OkStatus();
}

absl::Status MakeFolder(absl::string_view path) {
  const std::string folder(path);
  if (mkdir(folder.c_str(), 0777) == 0) return absl::OkStatus();
  const int error = errno;
  if (error == EEXIST && IsFolder(path)) return absl::OkStatus();
  return SystemError(path, error);
}

bool IsFolder(absl::string_view path) {
  struct stat info;
  return stat(std::string(path).c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string SafeFileName(absl::string_view name) {
  std::string safe;
  for (const char c : name.substr(0, 128)) {
    const bool keep = absl::ascii_isalnum(c) || c == '_' || c == '-' ||
                      (c == '.' && !safe.empty());
    safe += keep ? c : '_';
  }
  return safe.empty() ? "_" : safe;
}

}  // namespace ingot
