#include "loaders/bare_file.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "artifact/open_set.h"

namespace ingot {

absl::StatusOr<ArtifactSet> ReadSetOrBareFile(absl::string_view path,
                                              const LoaderRegistry& loaders,
                                              const ReadOptions& options) {
  const std::filesystem::path file{std::string(path)};
  std::string loader = file.extension().string();
  if (!loader.empty()) loader.erase(0, 1);  // the dot
  std::error_code error;
  if (!loaders.Find(loader).ok() ||
      !std::filesystem::is_regular_file(file, error)) {
    return ReadSet(path, options);
  }
  absl::StatusOr<Blob> content = Blob::MapFile(path);
  if (!content.ok()) return content.status();
  Artifact artifact;
  artifact.codegen_id = "file";
  artifact.loader = std::move(loader);
  artifact.file_name = file.filename().string();
  artifact.content = *std::move(content);
  ArtifactSet set;
  if (absl::Status s = set.Add(std::move(artifact)); !s.ok()) return s;
  return set;
}

}  // namespace ingot
