#include "loaders/native/staging_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/folder_in_use.h"
#include "loaders/native/files.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = ".ingot-link-";

// Removes the folder and all in it, the mark that it is in use last.
void Remove(const fs::path& folder) {
  std::error_code error, ignored;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().filename() != kInUseMark) fs::remove_all(*it, ignored);
  }
  fs::remove_all(folder, ignored);
}

void RemoveAbandoned(const std::string& parent) {
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end;
       it.increment(error)) {
    const fs::path& path = it->path();
    if (!absl::StartsWith(path.filename().string(), kPrefix)) continue;
    // An empty one is without a mark: it was about to be removed.
    if (rmdir(path.c_str()) == 0) continue;
    const int mark = TakeAbandoned(AT_FDCWD, path.string());
    if (mark < 0) continue;
    Remove(path);
    close(mark);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<StagingFolder>> StagingFolder::Make(
    const std::string& parent) {
  RemoveAbandoned(parent);
  std::string path;
  const int mark =
      MakeNewFolderInUse(AT_FDCWD, absl::StrCat(parent, "/", kPrefix), &path);
  if (mark >= 0) {
    return std::unique_ptr<StagingFolder>(
        new StagingFolder(std::move(path), mark));
  }
  return FileError("making the folder", path, errno);
}

StagingFolder::~StagingFolder() {
  Remove(path_);
  close(mark_);
}

}  // namespace ingot
