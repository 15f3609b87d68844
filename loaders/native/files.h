// Files that linking writes.

#ifndef INGOT_LOADERS_NATIVE_FILES_H_
#define INGOT_LOADERS_NATIVE_FILES_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// "creating out.so: No space left on device" for an errno: ResourceExhausted if
// there is no room, otherwise FailedPrecondition.
absl::Status FileError(absl::string_view what, absl::string_view path,
                       int error);

// A folder in $TMPDIR or /tmp, which is removed with all that is in it when the
// object is destroyed.
class ScratchFolder {
 public:
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> Make();
  ~ScratchFolder();
  const std::string& path() const { return path_; }  // absolute

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

// Writes a file piece by piece. Thread-compatible.
class FileWriter {
 public:
  FileWriter() = default;
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();
  absl::Status Open(const std::string& path);  // empties what is there
  absl::Status Write(absl::string_view bytes);

 private:
  int fd_ = -1;
  std::string path_;
};

// Writes a file that no one else reads, in place: one that others may read is
// replaced as a whole (base/replace_file.h).
absl::Status WriteScratchFile(const std::string& path, absl::string_view bytes);

// Moves `from` to `to`, after its bytes have reached the disk. A linker wrote
// `from`, a program of its own, so that no ReplaceFile has it open.
absl::Status MoveInto(const std::string& from, const std::string& to);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_FILES_H_
