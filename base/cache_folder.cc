#include "base/cache_folder.h"

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"

namespace ingot {

std::string CacheFolder(absl::string_view what) {
  if (const char* cache = std::getenv("XDG_CACHE_HOME");
      cache != nullptr && cache[0] == '/') {
    return absl::StrCat(cache, "/ingot/", what);
  }
  if (const char* home = std::getenv("HOME");
      home != nullptr && home[0] == '/') {
    return absl::StrCat(home, "/.cache/ingot/", what);
  }
  return "";
}

}  // namespace ingot
