// Finds the shared libraries that native code is linked with.

#ifndef INGOT_LOADERS_NATIVE_FIND_LIBRARY_H_
#define INGOT_LOADERS_NATIVE_FIND_LIBRARY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "isa/machines.h"

namespace ingot {

// The file of a library that provenance names: "m", "openblas", or a file's
// name such as "libdnnl.so.2". Development packages may be missing, so a name
// stands for its highest-numbered library, too. For a family that is not this
// machine's, looks where Debian puts libraries for cross compiling.
// FailedPrecondition when there is none, which names the package to install if
// one is known.
absl::StatusOr<std::string> FindLibrary(absl::string_view library,
                                        const isa::MachineFamily& family);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_FIND_LIBRARY_H_
