#include <algorithm>
#include <optional>
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
#include "artifact/inspector.h"
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

// The text of note `i` of `entry` if a person edited it. One that is gone, or
// that has no digest, is left alone.
absl::StatusOr<std::optional<Blob>> EditedNote(const FileTree& tree,
                                               const Manifest::Entry& entry,
                                               int i) {
  absl::StatusOr<Blob> note = tree.Map(NotePath(entry, entry.notes(i)));
  if (absl::IsNotFound(note.status())) return std::nullopt;
  if (!note.ok()) return note.status();
  if (Sha256Hex(note->view()) == entry.note_sha256(i)) return std::nullopt;
  return *std::move(note);
}

// The note that is the text form of an artifact, and who reads it back.
struct TextForm {
  const InspectorRule* rule = nullptr;  // null: it has none
  std::string note;
};

TextForm FindTextForm(const Manifest::Entry& entry,
                      const InspectorRegistry* inspectors) {
  TextForm form;
  if (inspectors == nullptr) return form;
  form.rule = inspectors->FindTextForm(ArtifactOf(entry));
  if (form.rule == nullptr) return form;
  const std::string& file = entry.file_name();
  form.note =
      absl::StrCat(file.substr(file.rfind('/') + 1), form.rule->output_suffix);
  return form;
}

// Tells of the notes of `entry` that a person edited; returns the text form if
// it is one of them.
absl::StatusOr<std::optional<Blob>> LookAtNotes(const FileTree& tree,
                                                const Manifest::Entry& entry,
                                                const TextForm& form,
                                                const EditedNoteFn& tell) {
  std::optional<Blob> text;
  for (int i = 0; i < entry.note_sha256_size(); ++i) {
    const bool is_text = form.rule != nullptr && entry.notes(i) == form.note;
    if (!is_text && tell == nullptr) continue;
    INGOT_ASSIGN_OR_RETURN(std::optional<Blob> edited,
                           EditedNote(tree, entry, i));
    if (!edited) continue;
    if (is_text) {
      text = std::move(edited);
    } else {
      tell(tree.Shown(NotePath(entry, entry.notes(i))),
           tree.Shown(ArtifactPath(ArtifactOf(entry))));
    }
  }
  return text;
}

// The content that the edited text form of an artifact says.
absl::StatusOr<Blob> ReadTextForm(const std::string& path, const Blob& text,
                                  const TextForm& form) {
  absl::StatusOr<std::string> content = form.rule->read_back(text.view());
  if (content.ok()) return Blob::FromString(*std::move(content));
  return absl::Status(content.status().code(),
                      absl::StrCat(path, ":", content.status().message()));
}

absl::Status EditedTwice(const std::string& path, const std::string& note) {
  return absl::FailedPreconditionError(
      absl::StrCat(path, " was edited, and so was its text form ", note,
                   "; which of them is meant?"));
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
                                          const ReadOptions& options,
                                          const InspectorRegistry* inspectors) {
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
    const TextForm form = FindTextForm(entry, inspectors);
    INGOT_ASSIGN_OR_RETURN(
        const std::optional<Blob> text,
        LookAtNotes(tree, entry, form, options.on_edited_note));
    if (text) {
      const std::string note = NotePath(entry, form.note);
      if (!difference.empty()) return EditedTwice(tree.Shown(path), note);
      edits.push_back(absl::StrCat(note, " was changed"));
      edited.push_back(path);
      if (options.accept_edits) {
        content = ReadTextForm(tree.Shown(note), *text, form);
        if (!content.ok()) return content.status();
      }
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
