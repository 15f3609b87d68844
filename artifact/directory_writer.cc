#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "artifact/directory.h"
#include "artifact/directory_manifest.h"
#include "artifact/file_tree.h"
#include "artifact/manifest.h"
#include "artifact/manifest.pb.h"
#include "artifact/sha256.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

constexpr absl::string_view kStagingPrefix = ".ingot-dump-";

// Chooses names for inspectors' files that no artifact, no folder on the way to
// one and no other such file has, in any case of letters.
class NoteNames {
 public:
  explicit NoteNames(const Manifest& manifest) {
    for (const std::string& path : FilesNamedBy(manifest)) {
      const std::string folded = absl::AsciiStrToLower(path);
      for (size_t slash = folded.find('/'); slash != std::string::npos;
           slash = folded.find('/', slash + 1)) {
        taken_.insert(folded.substr(0, slash));
      }
      taken_.insert(folded);
    }
  }

  std::string Choose(const Manifest::Entry& entry, absl::string_view suffix) {
    const std::string& file = entry.file_name();
    const std::string base = file.substr(file.rfind('/') + 1);
    std::string note = absl::StrCat(base, suffix);
    for (int i = 2; !Take(NotePath(entry, note)); ++i) {
      note = absl::StrCat(base, ".", i, suffix);
    }
    return note;
  }

 private:
  bool Take(const std::string& path) {
    return taken_.insert(absl::AsciiStrToLower(path)).second;
  }

  absl::flat_hash_set<std::string> taken_;
};

// Writes what an inspector says of an artifact, and notes it in `entry`.
absl::Status WriteNote(const ArtifactSet& set, const Artifact& artifact,
                       const InspectorRule& rule, const FileTree& tree,
                       const std::string& folder, NoteNames* names,
                       Manifest::Entry* entry) {
  const std::string note = names->Choose(*entry, rule.output_suffix);
  absl::StatusOr<std::string> text = rule.inspect(artifact, set);
  if (!text.ok()) {
    text = absl::StrCat(
        "The inspector ", rule.name,
        " could not read this artifact: ", text.status().ToString(), "\n");
  }
  INGOT_RETURN_IF_ERROR(
      tree.Write(absl::StrCat(folder, "/", NotePath(*entry, note)), *text));
  entry->add_notes(note);
  entry->add_note_sha256(Sha256Hex(*text));
  return absl::OkStatus();
}

// Writes the artifacts, what the inspectors say of them, and the manifest, all
// below `folder`, and completes `manifest`, whose entries are in the set's
// order.
absl::Status WriteFiles(const ArtifactSet& set,
                        const InspectorRegistry& inspectors,
                        const FileTree& tree, const std::string& folder,
                        Manifest* manifest) {
  NoteNames names(*manifest);
  const std::string below = folder + "/";
  for (int i = 0; i < manifest->entries_size(); ++i) {
    const Artifact& artifact = set.artifacts()[i];
    Manifest::Entry* entry = manifest->mutable_entries(i);
    INGOT_RETURN_IF_ERROR(
        tree.Write(below + ArtifactPath(artifact), artifact.content.view()));
    for (const InspectorRule* rule : inspectors.Find(artifact)) {
      if (rule->output_suffix.empty()) continue;
      INGOT_RETURN_IF_ERROR(
          WriteNote(set, artifact, *rule, tree, folder, &names, entry));
    }
  }
  INGOT_ASSIGN_OR_RETURN(std::string json, ManifestToJson(*manifest));
  return tree.Write(below + kDirectoryManifest, json);
}

// The files of the dump that `tree` holds; none if it is empty.
absl::StatusOr<std::vector<std::string>> EarlierFiles(const FileTree& tree,
                                                      absl::string_view dir) {
  absl::StatusOr<std::vector<std::string>> names = tree.List();
  if (!names.ok()) return names;
  // An interrupted dump must not be in the way of the next.
  bool is_empty = true;
  for (const std::string& name : *names) {
    is_empty &=
        absl::StartsWith(name, kStagingPrefix) && tree.RemoveIfAbandoned(name);
  }
  if (is_empty) return std::vector<std::string>();
  absl::StatusOr<Manifest> earlier = LoadManifest(tree);
  if (earlier.ok()) return FilesNamedBy(*earlier);
  return absl::FailedPreconditionError(absl::StrCat(
      dir, " is neither empty nor an earlier dump, so nothing is written: ",
      earlier.status().message()));
}

// Refuses to replace or remove anything but the files of `earlier`.
absl::Status CheckRoom(const FileTree& tree, const Manifest& manifest,
                       const std::vector<std::string>& earlier) {
  const absl::flat_hash_set<std::string> ours(earlier.begin(), earlier.end());
  std::vector<std::string> touched = FilesNamedBy(manifest);
  touched.insert(touched.end(), earlier.begin(), earlier.end());
  for (const std::string& path : touched) {
    INGOT_ASSIGN_OR_RETURN(std::string blocker, tree.InTheWay(path));
    if (!blocker.empty() && !ours.contains(blocker)) {
      return absl::FailedPreconditionError(absl::StrCat(
          tree.Shown(blocker), " is in the way, and no earlier dump wrote it"));
    }
  }
  return absl::OkStatus();
}

// Puts the files from `folder` in the place of `earlier`, the manifest last.
absl::Status Install(const FileTree& tree, const std::string& folder,
                     const Manifest& manifest,
                     const std::vector<std::string>& earlier) {
  for (const std::string& path : earlier) {
    INGOT_RETURN_IF_ERROR(tree.Remove(path));
  }
  std::vector<std::string> files = FilesNamedBy(manifest);
  files.push_back(kDirectoryManifest);
  for (const std::string& path : files) {
    INGOT_RETURN_IF_ERROR(tree.Rename(absl::StrCat(folder, "/", path), path));
  }
  return absl::OkStatus();
}

absl::Status WriteTree(const ArtifactSet& set, absl::string_view dir,
                       const InspectorRegistry& inspectors) {
  INGOT_ASSIGN_OR_RETURN(FileTree tree, FileTree::Open(dir));
  INGOT_ASSIGN_OR_RETURN(std::vector<std::string> earlier,
                         EarlierFiles(tree, dir));
  INGOT_ASSIGN_OR_RETURN(Manifest manifest, DescribeSet(set));

  UniqueFd mark;
  INGOT_ASSIGN_OR_RETURN(std::string folder,
                         tree.MakeTemporaryFolder(kStagingPrefix, &mark));
  absl::Status status = WriteFiles(set, inspectors, tree, folder, &manifest);
  if (status.ok()) status = CheckRoom(tree, manifest, earlier);
  if (status.ok()) status = Install(tree, folder, manifest, earlier);
  tree.RemoveFolder(folder);
  return status;
}

}  // namespace

absl::Status WriteDirectory(const ArtifactSet& set, absl::string_view dir,
                            const InspectorRegistry& inspectors) {
  INGOT_RETURN_IF_ERROR(set.CheckExportable());
  const std::string name(dir);
  const bool made = mkdir(name.c_str(), 0777) == 0;
  if (!made && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", dir));
  }
  absl::Status status = WriteTree(set, dir, inspectors);
  if (made && !status.ok()) rmdir(name.c_str());
  return status;
}

}  // namespace ingot
