#include "artifact/artifact_set.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "artifact/names.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

using Key = std::tuple<absl::string_view, absl::string_view, absl::string_view>;

Key KeyOf(const Artifact& artifact) {
  return {artifact.target_key, artifact.codegen_id, artifact.file_name};
}

bool Before(const Artifact& artifact, const Key& key) {
  return KeyOf(artifact) < key;
}

absl::Status CheckNames(const Artifact& artifact) {
  absl::Status status = CheckTargetKey(artifact.target_key);
  status.Update(CheckIdentifier("the codegen id", artifact.codegen_id));
  status.Update(CheckIdentifier("the loader", artifact.loader));
  status.Update(CheckFileName(artifact.file_name));
  return status;
}

// Every folder on the way to `path`, ending in "/", and then `path` itself.
std::vector<std::string> PathsOn(const std::string& path) {
  std::vector<std::string> paths;
  for (size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    paths.push_back(path.substr(0, slash + 1));
  }
  paths.push_back(path);
  return paths;
}

// The form of a path that tells it apart on every file system: a folder and a
// file of one name clash, and so do names that differ only in case.
std::string Folded(absl::string_view path) {
  if (!path.empty() && path.back() == '/') path.remove_suffix(1);
  return absl::AsciiStrToLower(path);
}

}  // namespace

std::string ArtifactPath(const Artifact& artifact) {
  return absl::StrCat(artifact.target_key, "/", artifact.codegen_id, "/",
                      artifact.file_name);
}

absl::Status ArtifactSet::Add(Artifact artifact) {
  if (artifact.target_key.empty()) artifact.target_key = kDefaultTargetKey;
  INGOT_RETURN_IF_ERROR(CheckNames(artifact));

  const std::string path = ArtifactPath(artifact);
  const std::vector<std::string> on_path = PathsOn(path);
  for (const std::string& one : on_path) {
    const auto found = paths_.find(Folded(one));
    if (found == paths_.end()) continue;
    if (found->second != one) {
      return absl::InvalidArgumentError(
          absl::StrCat("the artifact ", path, " clashes with ", found->second,
                       ": names must differ in more than case, and one cannot "
                       "be both a file and a folder"));
    }
    if (one == path) {
      return absl::AlreadyExistsError(
          absl::StrCat("the set already has an artifact ", path));
    }
  }
  for (const std::string& one : on_path) paths_.emplace(Folded(one), one);
  const auto where = std::lower_bound(artifacts_.begin(), artifacts_.end(),
                                      KeyOf(artifact), Before);
  artifacts_.insert(where, std::move(artifact));
  return absl::OkStatus();
}

const Artifact* ArtifactSet::Find(absl::string_view target_key,
                                  absl::string_view codegen_id,
                                  absl::string_view file_name) const {
  const Key key(target_key, codegen_id, file_name);
  const auto found =
      std::lower_bound(artifacts_.begin(), artifacts_.end(), key, Before);
  if (found == artifacts_.end() || KeyOf(*found) != key) return nullptr;
  return &*found;
}

absl::Status ArtifactSet::CheckExportable() const {
  for (const Artifact& artifact : artifacts_) {
    if (artifact.live != nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the artifact ", ArtifactPath(artifact),
          " holds a live object, which has no form on disk: a set with it can "
          "be loaded in this process but not exported"));
    }
  }
  return CheckProvenance(provenance_);
}

}  // namespace ingot
