#include "tools/ingot/value_dump.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/frontends/read_model.h"
#include "tools/ingot/files.h"
#include "tools/ingot/report.h"

namespace ingot {
namespace {

std::vector<std::string> NamesOf(const std::vector<ModelValue>& values) {
  std::vector<std::string> names;
  for (const ModelValue& value : values) names.push_back(value.name);
  return names;
}

}  // namespace

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

absl::StatusOr<std::vector<std::string>> ValueNames(
    absl::string_view path, const FrontendRegistry& frontends) {
  absl::StatusOr<std::vector<ModelValue>> values =
      ListModelValues(path, frontends);
  if (!values.ok()) return values.status();
  return NamesOf(*values);
}

absl::StatusOr<std::vector<DumpedValue>> FindDumpedValues(
    absl::string_view path, absl::string_view folder,
    const FrontendRegistry& frontends) {
  absl::StatusOr<std::vector<ModelValue>> values =
      ListModelValues(path, frontends);
  if (!values.ok()) return values.status();
  const std::map<std::string, std::string> files = FileNames(NamesOf(*values));
  std::vector<DumpedValue> dumped;
  for (const ModelValue& value : *values) {
    const std::string file =
        absl::StrCat(folder, "/", files.at(value.name), ".npy");
    std::error_code error;
    const auto bytes = std::filesystem::file_size(file, error);
    if (error) continue;
    dumped.push_back(
        {value.name, value.node, file, static_cast<int64_t>(bytes)});
  }
  if (dumped.empty()) {
    return absl::NotFoundError(absl::StrCat(
        folder, ": has no NAME.npy of any value of ", path,
        "; `ingot run MODEL --all-values --output-dir=DIR` writes them"));
  }
  return dumped;
}

}  // namespace ingot
