#ifndef INGOT_TOOLS_EXPORT_C_BUILD_FILES_H_
#define INGOT_TOOLS_EXPORT_C_BUILD_FILES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tools/export_c/memory_use.h"

namespace ingot {

// Each builds lib<name>.a of the C `sources`.
std::string Makefile(absl::string_view name,
                     const std::vector<std::string>& sources);
std::string CMakeLists(absl::string_view name,
                       const std::vector<std::string>& sources);

// Says what is in the folder, how to use it and what memory it takes.
std::string Readme(absl::string_view model, absl::string_view name,
                   const MemoryUse& memory);

}  // namespace ingot

#endif  // INGOT_TOOLS_EXPORT_C_BUILD_FILES_H_
