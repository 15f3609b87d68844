#include "base/folder_in_use.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "absl/strings/str_cat.h"

namespace ingot {
namespace {

// A network's file system locks what is open for writing only.
int OpenMark(int parent, const std::string& name, int flags) {
  return openat(parent, absl::StrCat(name, "/", kInUseMark).c_str(),
                O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0666);
}

}  // namespace

int MakeFolderInUse(int parent, const std::string& name) {
  if (mkdirat(parent, name.c_str(), 0777) != 0) return -1;
  const int mark = OpenMark(parent, name, O_CREAT | O_EXCL);
  // One that is empty may be removed.
  int error = errno == ENOENT ? EBUSY : errno;
  if (mark >= 0) {
    // Where nothing can be locked, no process takes the folder over either.
    const bool locked =
        flock(mark, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    struct stat info;
    if (locked && fstat(mark, &info) == 0 && info.st_nlink > 0) return mark;
    // Somebody took it over before it was locked.
    close(mark);
    error = EBUSY;
  }
  unlinkat(parent, name.c_str(), AT_REMOVEDIR);
  errno = error;
  return -1;
}

int MakeNewFolderInUse(int parent, absl::string_view prefix,
                       std::string* name) {
  static std::atomic<unsigned> counter{0};
  // A process of the same number, here or on another machine, may have one.
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    *name = absl::StrCat(prefix, getpid(), "-", counter++);
    const int mark = MakeFolderInUse(parent, *name);
    if (mark >= 0 || (errno != EEXIST && errno != EBUSY)) return mark;
  }
  return -1;
}

int TakeAbandoned(int parent, const std::string& name) {
  struct stat folder;
  if (fstatat(parent, name.c_str(), &folder, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISDIR(folder.st_mode) || folder.st_uid != geteuid()) {
    return -1;
  }
  const int mark = OpenMark(parent, name, 0);
  if (mark >= 0 && flock(mark, LOCK_EX | LOCK_NB) == 0) return mark;
  if (mark >= 0) close(mark);
  return -1;
}

}  // namespace ingot
