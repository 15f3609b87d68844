#include "tools/ingot/value_dump.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/ingot/files.h"

namespace ingot {
std::map<std::string, std::string> FileNames(
    absl::Span<const std::string> names) {
  std::map<std::string, std::string> files;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    if (files.count(name) > 0) continue;
    std::string file = SafeFileName(name);
    while (!taken.insert(file).second) file += '_';
    files.emplace(name, std::move(file));
  }
  return files;
}

absl::StatusOr<std::vector<DumpedValue>> FindDumpedValues(
    absl::Span<const ComputedValue> values, absl::string_view folder) {
  std::vector<std::string> names;
  for (const ComputedValue& value : values) names.push_back(value.name);
  const std::map<std::string, std::string> files = FileNames(names);
  std::vector<DumpedValue> dumped;
  for (const ComputedValue& value : values) {
    const std::string file =
        absl::StrCat(folder, "/", files.at(value.name), ".npy");
    std::error_code error;
    const auto bytes = std::filesystem::file_size(file, error);
    if (error) continue;
    dumped.push_back({value, file, static_cast<int64_t>(bytes)});
  }
  if (dumped.empty()) {
    return absl::NotFoundError(absl::StrCat(
        folder,
        ": has no NAME.npy of any value of the model"
        "; `ingot run MODEL --all-values --output-dir=DIR` writes them"));
  }
  return dumped;
}

}  // namespace ingot
