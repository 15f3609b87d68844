// A cache of what drivers built while sets were loaded.
#ifndef INGOT_LOADERS_BUILD_CACHE_H_
#define INGOT_LOADERS_BUILD_CACHE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "artifact/artifact.h"
#include "artifact/blob.h"

namespace ingot {

// Loaders offer what they had to build, under names that say what it was built
// of and for which device and driver, and ask for it before they build again.
// It is code, which runs: whoever writes to a cache must be trusted.
// Implementations may be called from any thread.
class BuildCache {
 public:
  virtual ~BuildCache() = default;

  // The bytes that an artifact of that file name had; nullopt where nothing is
  // known of it.
  virtual std::optional<Blob> Find(absl::string_view file_name) = 0;

  // Takes what was built: an artifact of the group's key, codegen and loader. A
  // set that has it among its artifacts needs no cache.
  virtual void Keep(const Artifact& built) = 0;
};

// A cache of files in a folder, which is made when it is first needed; with ""
// it keeps nothing. What cannot be read or written is not there: no error comes
// of a cache.
std::unique_ptr<BuildCache> FolderBuildCache(std::string folder);

}  // namespace ingot

#endif  // INGOT_LOADERS_BUILD_CACHE_H_
