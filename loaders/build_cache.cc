#include "loaders/build_cache.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/replace_file.h"

namespace ingot {
namespace {

class FolderCache final : public BuildCache {
 public:
  explicit FolderCache(std::string folder) : folder_(std::move(folder)) {}

  std::optional<Blob> Find(absl::string_view file_name) override {
    if (folder_.empty()) return std::nullopt;
    absl::StatusOr<Blob> bytes =
        Blob::MapFile(absl::StrCat(folder_, "/", file_name));
    if (!bytes.ok()) return std::nullopt;
    return *std::move(bytes);
  }

  void Keep(const Artifact& built) override {
    if (folder_.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    ReplaceFileWith(absl::StrCat(folder_, "/", built.file_name),
                    built.content.view())
        .IgnoreError();
  }

 private:
  const std::string folder_;
};

}  // namespace

std::unique_ptr<BuildCache> FolderBuildCache(std::string folder) {
  return std::make_unique<FolderCache>(std::move(folder));
}

}  // namespace ingot
