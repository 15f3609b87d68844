// Reading and writing files, whole or not at all.

#ifndef INGOT_TOOLS_INGOT_FILES_H_
#define INGOT_TOOLS_INGOT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/replace_file.h"

namespace ingot {

// Files that appear together: they get their names only when all of them are on
// the disk. Those not committed are removed. Not thread-safe.
class FileBatch {
 public:
  // Errors name `path` and say what the system said; a full disk is
  // ResourceExhausted. FailedPrecondition when `path` is there and no regular
  // file.
  absl::Status Add(absl::string_view path, absl::string_view bytes);
  absl::Status Commit();

 private:
  std::vector<ReplaceFile> files_;
};

absl::Status WriteFile(absl::string_view path, absl::string_view bytes);

// OK when a file could be written at `path`: its folder is there and it is no
// folder itself. For saying so before an hour of work and not after it.
absl::Status CheckWritable(absl::string_view path);

// FailedPrecondition when `output` is the file at `input`, which a command
// reads and would put something else in the place of.
absl::Status CheckIsOther(absl::string_view output, absl::string_view input);

// Makes the folder unless it is there; its parent must be.
absl::Status MakeFolder(absl::string_view path);

bool IsFolder(absl::string_view path);

// A file name made of `name`, which comes from a model and may hold anything.
std::string SafeFileName(absl::string_view name);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_FILES_H_
