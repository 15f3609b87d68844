// Running LLD, LLVM's linker.

#ifndef INGOT_LOADERS_NATIVE_LLD_H_
#define INGOT_LOADERS_NATIVE_LLD_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace ingot {

// LLD for ELF, where nothing names another. Another version may write other
// bytes, so it is one.
inline constexpr char kElfLld[] = "ld.lld-19";

// Runs an LLD of any kind: the program, as a path or a name that is looked for
// in PATH, and its arguments. NotFound when there is no such program;
// FailedPrecondition with its own words when it refuses, in which files of
// `folder` go by their names in it; Internal when it crashes. Thread-safe.
absl::Status RunLld(std::vector<std::string> words, const std::string& folder);

// Links `inputs`, absolute paths, into the shared library `output`, with the
// program `lld`, or "ld.lld-19" where that is empty. Fails as RunLld does.
absl::Status LinkSharedLibrary(const std::string& lld,
                               absl::Span<const std::string> inputs,
                               const std::string& version_script,
                               const std::string& folder,
                               const std::string& output);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_LLD_H_
