#include "tools/ingot/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

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

}  // namespace

absl::Status FileBatch::Add(absl::string_view path, absl::string_view bytes) {
  INGOT_RETURN_IF_ERROR(CheckWritable(path));
  INGOT_ASSIGN_OR_RETURN(ReplaceFile file, ReplaceFile::Open(path));
  INGOT_RETURN_IF_ERROR(file.Append(bytes));
  INGOT_RETURN_IF_ERROR(file.Sync());
  files_.push_back(std::move(file));
  return absl::OkStatus();
}

absl::Status FileBatch::Commit() {
  while (!files_.empty()) {
    INGOT_RETURN_IF_ERROR(files_.back().Commit());
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
  const std::string its_folder = absl::StrCat(path, ": its folder ", folder);
  if (stat(folder.c_str(), &info) != 0) {
    return absl::ErrnoToStatus(errno, its_folder);
  }
  if (!S_ISDIR(info.st_mode)) {
    return absl::ErrnoToStatus(ENOTDIR, its_folder);
  }
  if (access(folder.c_str(), W_OK) != 0) {
    return absl::ErrnoToStatus(errno, its_folder);
  }
  return absl::OkStatus();
}

absl::Status CheckIsOther(absl::string_view output, absl::string_view input) {
  std::error_code error;
  if (!std::filesystem::equivalent(std::string(output), std::string(input),
                                   error)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      output, ": is what is read, and would be lost; write another file"));
}

absl::Status MakeFolder(absl::string_view path) {
  const std::string folder(path);
  if (mkdir(folder.c_str(), 0777) == 0) return absl::OkStatus();
  const int error = errno;
  if (error == EEXIST && IsFolder(path)) return absl::OkStatus();
  return absl::ErrnoToStatus(error, path);
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
