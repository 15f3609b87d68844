// A file that appears under its name whole or not at all.

#ifndef INGOT_BASE_REPLACE_FILE_H_
#define INGOT_BASE_REPLACE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// Bytes go into a new file in the folder of the one to replace; Commit renames
// it. Without Commit, the destructor removes it. Not thread-safe.
class ReplaceFile {
 public:
  // `path` need not exist. If it is a link, the file that it names is replaced.
  // Errors: FailedPrecondition when `path` is there but not a regular file;
  // what the system reports.
  static absl::StatusOr<ReplaceFile> Open(absl::string_view path);

  ReplaceFile(ReplaceFile&& other) noexcept;
  ReplaceFile& operator=(ReplaceFile&&) = delete;
  ~ReplaceFile();

  absl::Status Append(absl::string_view bytes);

  // Waits until the bytes are on the disk, so that a full disk is an error now.
  absl::Status Sync();

  // Syncs, then renames the file. Nothing may follow.
  absl::Status Commit();

 private:
  ReplaceFile(int fd, std::string temporary, std::string path,
              std::string shown);

  int fd_;
  std::string temporary_;
  std::string path_;   // to rename to
  std::string shown_;  // the same file as the caller named it, for messages
};

// Opens, appends and commits: the file at `path` is `bytes` or what it was.
absl::Status ReplaceFileWith(absl::string_view path, absl::string_view bytes);

// Writes all of `bytes` to `fd`. `name` is for the message.
absl::Status WriteAll(int fd, absl::string_view bytes, absl::string_view name);

}  // namespace ingot

#endif  // INGOT_BASE_REPLACE_FILE_H_
