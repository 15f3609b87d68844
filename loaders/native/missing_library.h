// The error for a library that native code calls and that is not installed.

#ifndef INGOT_LOADERS_NATIVE_MISSING_LIBRARY_H_
#define INGOT_LOADERS_NATIVE_MISSING_LIBRARY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "artifact/provenance.pb.h"

namespace ingot {

// "the library 'openblas' that the set needs is not installed on this machine;
// Debian's package libopenblas0 has it". `library` as in the provenance.
std::string MissingLibrary(absl::string_view library);

// The status of opening a linked library, which failed; if that was for want of
// another library, with what `provenance` says of that one.
absl::Status ExplainOpening(const absl::Status& status,
                            const Provenance& provenance);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_MISSING_LIBRARY_H_
