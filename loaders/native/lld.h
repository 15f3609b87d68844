// Running LLD, LLVM's linker.

#ifndef INGOT_LOADERS_NATIVE_LLD_H_
#define INGOT_LOADERS_NATIVE_LLD_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace ingot {

// Links `inputs`, absolute paths, into the shared library `output`, with the
// program `lld`: a path, a name that is looked for in PATH, or empty for
// "ld.lld-19". NotFound when there is no such program; FailedPrecondition with
// its own words when it refuses; Internal when it crashes. Thread-safe.
absl::Status RunLld(const std::string& lld,
                    absl::Span<const std::string> inputs,
                    const std::string& version_script,
                    const std::string& output);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_LLD_H_
