#include "artifact/open_set.h"

#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "artifact/directory.h"

namespace ingot {

absl::StatusOr<ArtifactSet> ReadSet(absl::string_view path,
                                    const ReadOptions& options,
                                    const InspectorRegistry* inspectors) {
  struct stat info;
  if (stat(std::string(path).c_str(), &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  if (S_ISDIR(info.st_mode)) return ReadDirectory(path, options, inspectors);
  return ReadContainerFile(path, options);
}

}  // namespace ingot
