// Files that are an artifact by themselves, such as graph.examplejson.

#ifndef INGOT_LOADERS_BARE_FILE_H_
#define INGOT_LOADERS_BARE_FILE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "artifact/container.h"
#include "artifact/inspector.h"
#include "loaders/loader_registry.h"

namespace ingot {

// Whether the file at `path` is one artifact: its extension is the name of one
// of `loaders`.
bool IsBareFile(absl::string_view path, const LoaderRegistry& loaders);

// The set at `path`, as ReadSet of artifact/open_set.h reads it; or, where the
// extension is the name of one of `loaders`, a set of one artifact for that
// loader: the file. Its codegen is called "file". Such a set has no plan but
// what the loader makes of the artifact.
// Errors: those of ReadSet and of ArtifactSet::Add, for a file's name.
absl::StatusOr<ArtifactSet> ReadSetOrBareFile(
    absl::string_view path, const LoaderRegistry& loaders,
    const ReadOptions& options = {},
    const InspectorRegistry* inspectors = nullptr);

}  // namespace ingot

#endif  // INGOT_LOADERS_BARE_FILE_H_
