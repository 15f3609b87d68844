// A compiled set as a folder of C for firmware.
#ifndef INGOT_TOOLS_EXPORT_C_EXPORT_C_H_
#define INGOT_TOOLS_EXPORT_C_EXPORT_C_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "artifact/artifact_set.h"
#include "tools/export_c/memory_use.h"

namespace ingot {

struct ExportedFolder {
  std::map<std::string, std::string> files;  // by path
  MemoryUse memory;
};

// The whole model as C99 that needs a C compiler, string.h and math.h, and
// nothing else: its kernels and the function that calls them, its weights as a
// constant array, its arena as a static one, and what builds them. The set must
// have been compiled for the target `c` alone, and have a main function whose
// memory is of a constant size; FailedPrecondition says what is in the way.
// InvalidArgument for a set whose plan or weights make no sense.
absl::StatusOr<ExportedFolder> ExportC(const ArtifactSet& set);

}  // namespace ingot

#endif  // INGOT_TOOLS_EXPORT_C_EXPORT_C_H_
