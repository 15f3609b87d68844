// Files below one folder, reached without following a link. Private to this
// folder.

#ifndef INGOT_ARTIFACT_FILE_TREE_H_
#define INGOT_ARTIFACT_FILE_TREE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/blob.h"

namespace ingot {

// A file descriptor that closes itself.
class UniqueFd {
 public:
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd();

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

  // The descriptor, which is now the caller's to close.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// The folder is held open, so renaming it meanwhile does no harm. Paths are
// relative, joined by "/" and without "." and "..", which the caller checks. A
// component that is a link is FailedPrecondition in every call. Not
// thread-safe.
class FileTree {
 public:
  // Opens the folder `dir`, which itself may be a link.
  static absl::StatusOr<FileTree> Open(absl::string_view dir);

  // The bytes of a regular file, mapped if it is large. NotFound when it, or a
  // folder on its way, is missing.
  absl::StatusOr<Blob> Map(const std::string& path) const;

  // Makes a new file and the folders on its way. AlreadyExists.
  absl::Status Write(const std::string& path, absl::string_view bytes) const;

  // Removes a file, then the folders on its way that are empty. OK when there
  // is no such file.
  absl::Status Remove(const std::string& path) const;

  // Renames a file over what may be there; makes the folders on the way.
  absl::Status Rename(const std::string& from, const std::string& to) const;

  // The path that keeps a new file from being made at `path`: `path` itself, or
  // a part of it that is no folder. Empty when nothing does.
  absl::StatusOr<std::string> InTheWay(const std::string& path) const;

  // Makes an empty folder here with a name that starts with `prefix`, and
  // returns its name. It is in use until `mark` is closed.
  absl::StatusOr<std::string> MakeTemporaryFolder(absl::string_view prefix,
                                                  UniqueFd* mark) const;

  // Removes a folder here and all in it, as far as possible.
  void RemoveFolder(const std::string& name) const;

  // The same if `name` is a temporary folder whose process has ended, which is
  // returned.
  bool RemoveIfAbandoned(const std::string& name) const;

  // The names in the folder itself, sorted.
  absl::StatusOr<std::vector<std::string>> List() const;

  // `path` as a message shows it.
  std::string Shown(absl::string_view path) const;

 private:
  FileTree(UniqueFd root, std::string name)
      : root_(std::move(root)), name_(std::move(name)) {}

  // The folder that holds `path`, made if `make`.
  absl::StatusOr<UniqueFd> OpenParent(const std::string& path, bool make) const;

  UniqueFd root_;
  std::string name_;
};

}  // namespace ingot

#endif  // INGOT_ARTIFACT_FILE_TREE_H_
