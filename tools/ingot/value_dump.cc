#include "tools/ingot/value_dump.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "artifact/blob.h"
#include "compiler/frontends/onnx/values.h"
#include "tools/ingot/files.h"
#include "tools/ingot/report.h"

namespace ingot {
namespace {

absl::StatusOr<std::vector<OnnxValue>> ReadValues(absl::string_view path) {
  absl::StatusOr<Blob> bytes = Blob::MapFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<std::vector<OnnxValue>> values = OnnxValues(*bytes);
  if (!values.ok()) return Annotate(values.status(), path);
  return values;
}

std::vector<std::string> NamesOf(const std::vector<OnnxValue>& values) {
  std::vector<std::string> names;
  for (const OnnxValue& value : values) names.push_back(value.name);
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

absl::StatusOr<std::vector<std::string>> ValueNames(absl::string_view path) {
  absl::StatusOr<std::vector<OnnxValue>> values = ReadValues(path);
  if (!values.ok()) return values.status();
  return NamesOf(*values);
}

absl::StatusOr<std::vector<DumpedValue>> FindDumpedValues(
    absl::string_view path, absl::string_view folder) {
  absl::StatusOr<std::vector<OnnxValue>> values = ReadValues(path);
  if (!values.ok()) return values.status();
  const std::map<std::string, std::string> files = FileNames(NamesOf(*values));
  std::vector<DumpedValue> dumped;
  for (const OnnxValue& value : *values) {
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
