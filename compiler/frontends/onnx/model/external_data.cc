#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"

namespace ingot::onnx_frontend {

// A model is data that may be hostile, so the path is opened component by
// component, following no link: not even one that changes meanwhile leads out.
absl::StatusOr<Blob> ReadExternalData(absl::string_view dir,
                                      absl::string_view location,
                                      int64_t offset, int64_t length) {
  const std::string shown = absl::StrCat("external data '", location, "'");
  if (location.empty() || location[0] == '/' ||
      location.find('\\') != absl::string_view::npos ||
      location.find('\0') != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, " is not a relative path"));
  }
  const std::vector<std::string> parts = absl::StrSplit(location, '/');
  for (const std::string& part : parts) {
    if (part == "..") {
      return absl::InvalidArgumentError(
          absl::StrCat(shown, " leads out of the model's folder"));
    }
  }
  int fd = open(std::string(dir).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  absl::Cleanup closer = [&fd] {
    if (fd >= 0) close(fd);
  };
  for (size_t i = 0; fd >= 0 && i < parts.size(); ++i) {
    if (parts[i].empty() || parts[i] == ".") continue;
    const bool last = i + 1 == parts.size();
    const int next = openat(fd, parts[i].c_str(),
                            O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
                                (last ? 0 : O_DIRECTORY));
    const int error = errno;
    close(fd);
    fd = next;
    errno = error;
  }
  if (fd < 0) {
    const std::string message = absl::StrCat(shown, ": ", std::strerror(errno));
    if (errno == ENOENT) return absl::NotFoundError(message);
    if (errno == ELOOP) {
      return absl::InvalidArgumentError(absl::StrCat(shown, " is a link"));
    }
    return absl::InvalidArgumentError(message);
  }
  INGOT_ASSIGN_OR_RETURN(Blob blob, Blob::MapFd(fd, location));
  const int64_t size = static_cast<int64_t>(blob.size());
  if (length < 0) length = size - offset;
  if (offset < 0 || length < 0 || offset > size || length > size - offset) {
    return absl::InvalidArgumentError(absl::StrCat(
        shown, " of ", size, " bytes has no ", length, " bytes at ", offset));
  }
  return blob.Slice(static_cast<size_t>(offset), static_cast<size_t>(length));
}

}  // namespace ingot::onnx_frontend
