// Running LLD, LLVM's linker.

#ifndef INGOT_LOADERS_NATIVE_LLD_H_
#define INGOT_LOADERS_NATIVE_LLD_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace ingot {

// Links `inputs`, absolute paths, into the shared library `output`.
// FailedPrecondition with LLD's own words when it refuses.
//
// LLD runs in a forked copy of this process: no program has to be found and
// started, and its crash ends only the copy. No other thread may be inside of
// LLVM or LLD at that moment, because the copy would find its locks taken.
absl::Status RunLld(absl::Span<const std::string> inputs,
                    const std::string& version_script,
                    const std::string& output);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_LLD_H_
