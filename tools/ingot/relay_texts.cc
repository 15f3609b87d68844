#include "tools/ingot/relay_texts.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/blob.h"
#include "base/replace_file.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

absl::Status Failed(const fs::path& path, const std::error_code& error) {
  return absl::UnavailableError(
      absl::StrCat(path.string(), ": ", error.message()));
}

absl::Status Copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  if (error) return Failed(to.parent_path(), error);
  INGOT_ASSIGN_OR_RETURN(const Blob text, Blob::MapFile(from.string()));
  return ReplaceFileWith(to.string(), text.view());
}

// The modules of one compilation, whose names begin with their numbers.
absl::Status CopyModules(std::vector<fs::path> modules, const fs::path& to) {
  if (modules.empty()) return absl::OkStatus();
  std::sort(modules.begin(), modules.end());
  INGOT_RETURN_IF_ERROR(Copy(modules.front(), to / "imported.relay"));
  INGOT_RETURN_IF_ERROR(Copy(modules.back(), to / "kernels.relay"));
  for (size_t i = 1; i < modules.size(); ++i) {
    if (!absl::EndsWith(modules[i].string(), "_partition.relay")) continue;
    INGOT_RETURN_IF_ERROR(Copy(modules[i - 1], to / "before_partition.relay"));
    return Copy(modules[i], to / "partitioned.relay");
  }
  return absl::OkStatus();
}

absl::Status CopyFolder(const fs::path& from, const fs::path& to) {
  std::vector<fs::path> modules;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(from, error)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".relay") {
      modules.push_back(path);
    } else if (entry.is_directory() && path.filename() != "tir") {
      INGOT_RETURN_IF_ERROR(CopyFolder(path, to / path.filename()));
    }
  }
  if (error) return Failed(from, error);
  return CopyModules(std::move(modules), to);
}

}  // namespace

absl::Status CopyRelayTexts(const std::string& ir, const std::string& dump) {
  return CopyFolder(ir, fs::path(dump) / "relay");
}

}  // namespace ingot
