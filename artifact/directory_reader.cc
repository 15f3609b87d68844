#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "artifact/blob.h"
#include "artifact/directory.h"
#include "artifact/directory_manifest.h"
#include "artifact/edits.h"
#include "artifact/file_tree.h"
#include "artifact/manifest.h"
#include "artifact/manifest.pb.h"
#include "artifact/names.h"
#include "artifact/sha256.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

// Says how `content` differs from what `entry` says; empty if it does not.
std::string Difference(const Manifest::Entry& entry, const Blob& content) {
  if (content.size() != entry.size()) {
    return absl::StrCat("has ", content.size(), " bytes instead of ",
                        entry.size());
  }
  if (Sha256Hex(content.view()) != entry.sha256()) return "was changed";
  return "";
}

// Tells of the notes of `entry` that a person edited. One that is gone, or that
// has no digest, is left alone.
absl::Status TellOfEditedNotes(const FileTree& tree,
                               const Manifest::Entry& entry,
                               const EditedNoteFn& tell) {
  for (int i = 0; i < entry.note_sha256_size(); ++i) {
    const std::string path = NotePath(entry, entry.notes(i));
    absl::StatusOr<Blob> note = tree.Map(path);
    if (absl::IsNotFound(note.status())) continue;
    if (!note.ok()) return note.status();
    if (Sha256Hex(note->view()) == entry.note_sha256(i)) continue;
    tell(tree.Shown(path), tree.Shown(ArtifactPath(ArtifactOf(entry))));
  }
  return absl::OkStatus();
}

absl::Status EditsError(absl::string_view dir,
                        const std::vector<std::string>& edits) {
  constexpr size_t kShown = 10;
  const size_t shown = std::min(edits.size(), kShown);
  return absl::FailedPreconditionError(absl::StrCat(
      dir, " differs from its manifest: ",
      absl::StrJoin(edits.begin(), edits.begin() + shown, "; "),
      shown < edits.size()
          ? absl::StrCat("; and ", edits.size() - shown, " more files")
          : "",
      ". To take the files as they are, pass --accept-edits"));
}

}  // namespace

absl::StatusOr<ArtifactSet> ReadDirectory(absl::string_view dir,
                                          const ReadOptions& options) {
  INGOT_ASSIGN_OR_RETURN(FileTree tree, FileTree::Open(dir));
  absl::StatusOr<Manifest> manifest = LoadManifest(tree);
  if (absl::IsNotFound(manifest.status())) {
    return absl::NotFoundError(absl::StrCat(
        dir, " is not a dumped artifact set: it has no ", kDirectoryManifest));
  }
  if (!manifest.ok()) return manifest.status();

  ArtifactSet set;
  std::vector<std::string> edits;   // for a person
  std::vector<std::string> edited;  // paths
  for (const Manifest::Entry& entry : manifest->entries()) {
    Artifact artifact = ArtifactOf(entry);
    const std::string path = ArtifactPath(artifact);
    absl::StatusOr<Blob> content = tree.Map(path);
    if (absl::IsNotFound(content.status())) {
      edits.push_back(path + " is missing");
      continue;
    }
    if (!content.ok()) return content.status();
    const std::string difference = Difference(entry, *content);
    if (!difference.empty()) {
      edits.push_back(absl::StrCat(path, " ", difference));
      edited.push_back(path);
    }
    if (options.on_edited_note != nullptr) {
      INGOT_RETURN_IF_ERROR(
          TellOfEditedNotes(tree, entry, options.on_edited_note));
    }
    artifact.content = *std::move(content);
    if (absl::Status s = set.Add(std::move(artifact)); !s.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(tree.Shown(kDirectoryManifest), ": ", s.message()));
    }
  }
  if (!edits.empty() && !options.accept_edits) return EditsError(dir, edits);

  set.mutable_provenance() = std::move(*manifest->mutable_provenance());
  if (absl::Status s = CheckProvenance(set.provenance()); !s.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(tree.Shown(kDirectoryManifest), ": ", s.message()));
  }
  if (!edited.empty()) MarkEdited(edited, &set.mutable_provenance());
  return set;
}

}  // namespace ingot
