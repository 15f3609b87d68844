#include "loaders/native/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/replace_file.h"
#include "base/status_macros.h"

namespace ingot {

namespace fs = std::filesystem;

absl::Status FileError(absl::string_view what, absl::string_view path,
                       int error) {
  const std::string message =
      absl::StrCat(what, " ", path, ": ", strerror(error));
  return error == ENOSPC || error == EDQUOT || error == EFBIG
             ? absl::ResourceExhaustedError(message)
             : absl::FailedPreconditionError(message);
}

absl::StatusOr<std::unique_ptr<ScratchFolder>> ScratchFolder::Make() {
  const char* tmp = getenv("TMPDIR");
  std::error_code error;
  // Absolute, so that no program takes it for an option.
  const fs::path parent =
      fs::absolute(tmp != nullptr && *tmp != '\0' ? tmp : "/tmp", error);
  std::string name = absl::StrCat(parent.string(), "/ingot-link-XXXXXX");
  if (error || mkdtemp(name.data()) == nullptr) {
    return FileError("making the folder", name, error ? error.value() : errno);
  }
  return std::unique_ptr<ScratchFolder>(new ScratchFolder(std::move(name)));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

FileWriter::~FileWriter() {
  if (fd_ >= 0) close(fd_);
}

absl::Status FileWriter::Open(const std::string& path) {
  path_ = path;
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return fd_ < 0 ? FileError("creating", path_, errno) : absl::OkStatus();
}

absl::Status FileWriter::Write(absl::string_view bytes) {
  return WriteAll(fd_, bytes, path_);
}

absl::Status WriteScratchFile(const std::string& path,
                              absl::string_view bytes) {
  FileWriter file;
  INGOT_RETURN_IF_ERROR(file.Open(path));
  return file.Write(bytes);
}

absl::Status MoveInto(const std::string& from, const std::string& to) {
  const int fd = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fsync(fd) != 0) {
    const int error = errno;
    if (fd >= 0) close(fd);
    return FileError("writing", to, error);
  }
  close(fd);
  if (rename(from.c_str(), to.c_str()) != 0) {
    return FileError("writing", to, errno);
  }
  return absl::OkStatus();
}

}  // namespace ingot
