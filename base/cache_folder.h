// The folder for what a program can make again.
#ifndef INGOT_BASE_CACHE_FOLDER_H_
#define INGOT_BASE_CACHE_FOLDER_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ingot {

// $XDG_CACHE_HOME/ingot/`what` or ~/.cache/ingot/`what`, which need not exist;
// empty where the environment names neither.
std::string CacheFolder(absl::string_view what);

}  // namespace ingot

#endif  // INGOT_BASE_CACHE_FOLDER_H_
