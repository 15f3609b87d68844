// Linking native artifacts into a shared library, in process, with LLD.
// Programs that only open linked libraries do not need this.

#ifndef INGOT_LOADERS_NATIVE_LINKER_H_
#define INGOT_LOADERS_NATIVE_LINKER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"

namespace ingot {

// Links the artifacts of loader "native" (`.o` as they are, `.c` compiled first
// by the compiler that the source names) into the shared library `output`, and
// puts the container of all other artifacts into a section of its own. The
// result needs no other file. A set without native code makes a library that
// only carries its container. Only functions of the C ABI, the host services'
// variable and the container are exported. The same set and tools give the same
// bytes. Written whole or not at all: what was at `output` stays on an error.
// Thread-safe.
//
// Errors: FailedPrecondition for a symbol that is defined twice or nowhere,
// naming the artifacts on each side, or a library of the provenance's
// link_libraries that is not found; those of CompileC, with the artifact.
absl::Status LinkLibrary(const ArtifactSet& set, absl::string_view output);

// Links only the native artifacts, for a program that has the set at hand, into
// a cache keyed by their content, and returns the library's path there. Links
// nothing when it is there already. `report` is told, in a line, what is done.
// The cache is $XDG_CACHE_HOME/ingot/linked or ~/.cache/ingot/linked; when
// there is neither, or it cannot be written, a folder of this process's own.
absl::StatusOr<std::string> LinkCached(
    const ArtifactSet& set,
    const std::function<void(absl::string_view)>& report);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_LINKER_H_
