#include "artifact/file_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/folder_in_use.h"
#include "base/replace_file.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

// Smaller files are copied: a process can have only so many mappings.
constexpr size_t kMapSize = size_t{64} << 10;

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

std::string BaseName(const std::string& path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// The status for an `error` that the system gave for `shown`.
absl::Status Failed(int error, absl::string_view verb,
                    absl::string_view shown) {
  if (error == ELOOP) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot ", verb, " ", shown,
                     ": links inside of a directory are not followed"));
  }
  return absl::ErrnoToStatus(error, absl::StrCat("cannot ", verb, " ", shown));
}

bool IsLink(int folder, const std::string& name) {
  struct stat info;
  return fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(info.st_mode);
}

// Removes what is in the open folder, a mark that it is in use last. Links are
// removed, not followed.
void RemoveContents(UniqueFd folder) {
  const int fd = fcntl(folder.get(), F_DUPFD_CLOEXEC, 0);
  DIR* stream = fd < 0 ? nullptr : fdopendir(fd);
  if (stream == nullptr) {
    if (fd >= 0) close(fd);
    return;
  }
  while (const dirent* entry = readdir(stream)) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || name == kInUseMark) continue;
    if (unlinkat(folder.get(), name.c_str(), 0) == 0) continue;
    UniqueFd inner(openat(folder.get(), name.c_str(), kFolder | O_NOFOLLOW));
    if (!inner.ok()) continue;
    RemoveContents(std::move(inner));
    unlinkat(folder.get(), name.c_str(), AT_REMOVEDIR);
  }
  closedir(stream);
  unlinkat(folder.get(), kInUseMark, 0);
}

}  // namespace

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<FileTree> FileTree::Open(absl::string_view dir) {
  std::string name(dir);
  UniqueFd root(open(name.c_str(), kFolder));
  if (!root.ok()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", name));
  }
  return FileTree(std::move(root), std::move(name));
}

std::string FileTree::Shown(absl::string_view path) const {
  return absl::StrCat(name_, name_.empty() || name_.back() == '/' ? "" : "/",
                      path);
}

absl::StatusOr<UniqueFd> FileTree::OpenParent(const std::string& path,
                                              bool make) const {
  UniqueFd folder(fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
  if (!folder.ok()) return Failed(errno, "open", name_);
  size_t start = 0;
  for (size_t slash = path.find('/'); slash != std::string::npos;
       start = slash + 1, slash = path.find('/', start)) {
    const std::string name = path.substr(start, slash - start);
    if (make && mkdirat(folder.get(), name.c_str(), 0777) != 0 &&
        errno != EEXIST) {
      return Failed(errno, "make", Shown(path.substr(0, slash)));
    }
    UniqueFd next(openat(folder.get(), name.c_str(), kFolder | O_NOFOLLOW));
    if (!next.ok()) {
      // For a link, the system says no more than "not a folder".
      const int error = IsLink(folder.get(), name) ? ELOOP : errno;
      return Failed(error, "open", Shown(path.substr(0, slash)));
    }
    folder = std::move(next);
  }
  return folder;
}

absl::StatusOr<Blob> FileTree::Map(const std::string& path) const {
  INGOT_ASSIGN_OR_RETURN(UniqueFd parent, OpenParent(path, /*make=*/false));
  const UniqueFd file(openat(parent.get(), BaseName(path).c_str(),
                             O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.ok()) return Failed(errno, "open", Shown(path));
  absl::StatusOr<Blob> blob = Blob::MapFd(file.get(), Shown(path));
  if (!blob.ok() || blob->size() >= kMapSize) return blob;
  return Blob::CopyAligned(blob->view());
}

absl::Status FileTree::Write(const std::string& path,
                             absl::string_view bytes) const {
  INGOT_ASSIGN_OR_RETURN(UniqueFd parent, OpenParent(path, /*make=*/true));
  UniqueFd file(openat(parent.get(), BaseName(path).c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.ok()) return Failed(errno, "write", Shown(path));
  absl::Status status = WriteAll(file.get(), bytes, Shown(path));
  // Some file systems report a full disk only now.
  if (close(file.Release()) != 0 && status.ok()) {
    status = Failed(errno, "write", Shown(path));
  }
  return status;
}

absl::Status FileTree::Remove(const std::string& path) const {
  absl::StatusOr<UniqueFd> parent = OpenParent(path, /*make=*/false);
  if (absl::IsNotFound(parent.status())) return absl::OkStatus();
  if (!parent.ok()) return parent.status();
  if (unlinkat(parent->get(), BaseName(path).c_str(), 0) != 0 &&
      errno != ENOENT) {
    return Failed(errno, "remove", Shown(path));
  }
  std::string folder = path;
  for (size_t slash = folder.rfind('/'); slash != std::string::npos;
       slash = folder.rfind('/')) {
    folder.resize(slash);
    INGOT_ASSIGN_OR_RETURN(UniqueFd above, OpenParent(folder, /*make=*/false));
    // Stays when something else is in it.
    if (unlinkat(above.get(), BaseName(folder).c_str(), AT_REMOVEDIR) != 0) {
      break;
    }
  }
  return absl::OkStatus();
}

absl::Status FileTree::Rename(const std::string& from,
                              const std::string& to) const {
  INGOT_ASSIGN_OR_RETURN(UniqueFd source, OpenParent(from, /*make=*/false));
  INGOT_ASSIGN_OR_RETURN(UniqueFd target, OpenParent(to, /*make=*/true));
  if (renameat(source.get(), BaseName(from).c_str(), target.get(),
               BaseName(to).c_str()) != 0) {
    return Failed(errno, "write", Shown(to));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> FileTree::InTheWay(const std::string& path) const {
  for (size_t slash = path.find('/');; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    INGOT_ASSIGN_OR_RETURN(UniqueFd parent, OpenParent(part, /*make=*/false));
    struct stat info;
    if (fstatat(parent.get(), BaseName(part).c_str(), &info,
                AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return std::string();
      return Failed(errno, "read", Shown(part));
    }
    const bool is_folder = S_ISDIR(info.st_mode);
    if (slash == std::string::npos) return is_folder ? part + "/" : part;
    if (!is_folder) return part;
  }
}

absl::StatusOr<std::string> FileTree::MakeTemporaryFolder(
    absl::string_view prefix, UniqueFd* mark) const {
  std::string name;
  *mark = UniqueFd(MakeNewFolderInUse(root_.get(), prefix, &name));
  if (mark->ok()) return name;
  return Failed(errno, "write into", name_);
}

void FileTree::RemoveFolder(const std::string& name) const {
  UniqueFd folder(openat(root_.get(), name.c_str(), kFolder | O_NOFOLLOW));
  if (!folder.ok()) return;
  RemoveContents(std::move(folder));
  unlinkat(root_.get(), name.c_str(), AT_REMOVEDIR);
}

bool FileTree::RemoveIfAbandoned(const std::string& name) const {
  const UniqueFd mark(TakeAbandoned(root_.get(), name));
  if (mark.ok()) RemoveFolder(name);
  // An empty one is without a mark: it was about to be removed.
  return mark.ok() || unlinkat(root_.get(), name.c_str(), AT_REMOVEDIR) == 0;
}

absl::StatusOr<std::vector<std::string>> FileTree::List() const {
  // A descriptor of its own, because reading moves it.
  const int fd = openat(root_.get(), ".", kFolder);
  DIR* stream = fd < 0 ? nullptr : fdopendir(fd);
  if (stream == nullptr) {
    const int error = errno;
    if (fd >= 0) close(fd);
    return Failed(error, "read", name_);
  }
  std::vector<std::string> names;
  while (const dirent* entry = readdir(stream)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  closedir(stream);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ingot
