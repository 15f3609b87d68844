// The folder that linking works in.

#ifndef INGOT_LOADERS_NATIVE_STAGING_FOLDER_H_
#define INGOT_LOADERS_NATIVE_STAGING_FOLDER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace ingot {

// A hidden folder on the disk of what is made, so that this may be renamed. It
// is removed with all that is in it when the object is destroyed; where the
// process is killed instead, by the next one that makes such a folder beside
// it.
class StagingFolder {
 public:
  // Makes one in the folder `parent`, an absolute path. Errors as FileError.
  static absl::StatusOr<std::unique_ptr<StagingFolder>> Make(
      const std::string& parent);
  ~StagingFolder();
  const std::string& path() const { return path_; }  // absolute

 private:
  StagingFolder(std::string path, int mark)
      : path_(std::move(path)), mark_(mark) {}
  const std::string path_;
  const int mark_;  // that it is in use
};

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_STAGING_FOLDER_H_
