// The part of the C API that deals with sets as data.

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "artifact/blob.h"
#include "artifact/container.h"
#include "artifact/edits.h"
#include "artifact/inspector.h"
#include "artifact/open_set.h"
#include "base/status_macros.h"
#include "loaders/c_api/ingot.h"
#include "loaders/c_api/report.h"
#include "loaders/inspectors/plan_inspector.h"
#include "loaders/native/find_container.h"

struct IngotSet {
  ingot::ArtifactSet set;
  std::vector<ingot::Blob> replaced;  // somebody may still read them
};

namespace {

using ingot::Artifact;
using ingot::ArtifactSet;
using ingot::Blob;
using ingot::c_api::Report;

// The container that a library carries is read without opening the library. A
// directory's plan is an edited one, too, where its text form is.
absl::StatusOr<ArtifactSet> Open(absl::string_view path) {
  const absl::StatusOr<Blob> bytes = Blob::MapFile(path);
  if (!bytes.ok() || !ingot::IsElf(bytes->view())) {
    ingot::InspectorRegistry text_forms;
    INGOT_RETURN_IF_ERROR(ingot::RegisterPlanInspector(&text_forms));
    return ingot::ReadSet(path, {}, &text_forms);
  }
  INGOT_ASSIGN_OR_RETURN(const Blob container, ingot::FindContainer(*bytes));
  return ingot::ReadContainer(container);
}

absl::Status CheckIndex(const IngotSet& set, int32_t index) {
  const size_t count = set.set.artifacts().size();
  if (index >= 0 && static_cast<size_t>(index) < count) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("there is no artifact ", index, "; the set has ", count));
}

absl::Status Get(const IngotSet& set, int32_t index, IngotArtifact* result) {
  INGOT_RETURN_IF_ERROR(CheckIndex(set, index));
  const Artifact& artifact = set.set.artifacts()[index];
  result->target_key = artifact.target_key.c_str();
  result->codegen_id = artifact.codegen_id.c_str();
  result->loader = artifact.loader.c_str();
  result->file_name = artifact.file_name.c_str();
  result->bytes = artifact.content.view().data();
  result->size = artifact.content.size();
  return absl::OkStatus();
}

absl::Status Replace(IngotSet* set, int32_t index, const void* bytes,
                     size_t size) {
  INGOT_RETURN_IF_ERROR(CheckIndex(*set, index));
  ArtifactSet changed;
  changed.mutable_provenance() = set->set.provenance();
  int32_t i = 0;
  for (Artifact artifact : set->set.artifacts()) {
    if (i++ == index) {
      ingot::MarkEdited({ingot::ArtifactPath(artifact)},
                        &changed.mutable_provenance());
      set->replaced.push_back(artifact.content);
      artifact.content =
          Blob::FromString(std::string(static_cast<const char*>(bytes), size));
    }
    INGOT_RETURN_IF_ERROR(changed.Add(std::move(artifact)));
  }
  set->set = std::move(changed);
  return absl::OkStatus();
}

}  // namespace

extern "C" {

IngotStatus ingot_open_set(const char* path, IngotSet** set) {
  absl::StatusOr<ArtifactSet> opened = Open(path);
  if (opened.ok()) *set = new IngotSet{*std::move(opened), {}};
  return Report(opened.status());
}

void ingot_free_set(IngotSet* set) { delete set; }

int32_t ingot_set_size(const IngotSet* set) {
  return static_cast<int32_t>(set->set.artifacts().size());
}

IngotStatus ingot_get_artifact(const IngotSet* set, int32_t index,
                               IngotArtifact* artifact) {
  return Report(Get(*set, index, artifact));
}

IngotStatus ingot_replace_artifact(IngotSet* set, int32_t index,
                                   const void* bytes, size_t size) {
  return Report(Replace(set, index, bytes, size));
}

IngotStatus ingot_write_set(const IngotSet* set, const char* path) {
  return Report(ingot::WriteContainer(set->set, path));
}

}  // extern "C"
