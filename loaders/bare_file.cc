#include "loaders/bare_file.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "artifact/open_set.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

// The extension, without its dot.
std::string LoaderOf(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension.empty() ? extension : extension.substr(1);
}

}  // namespace

bool IsBareFile(absl::string_view path, const LoaderRegistry& loaders) {
  const std::filesystem::path file{std::string(path)};
  std::error_code error;
  return loaders.Find(LoaderOf(file)).ok() &&
         std::filesystem::is_regular_file(file, error);
}

absl::StatusOr<ArtifactSet> ReadSetOrBareFile(
    absl::string_view path, const LoaderRegistry& loaders,
    const ReadOptions& options, const InspectorRegistry* inspectors) {
  if (!IsBareFile(path, loaders)) return ReadSet(path, options, inspectors);
  const std::filesystem::path file{std::string(path)};
  Artifact artifact;
  artifact.codegen_id = "file";
  artifact.loader = LoaderOf(file);
  artifact.file_name = file.filename().string();
  INGOT_ASSIGN_OR_RETURN(artifact.content, Blob::MapFile(path));
  ArtifactSet set;
  INGOT_RETURN_IF_ERROR(set.Add(std::move(artifact)));
  return set;
}

}  // namespace ingot
