// How far into its file a library is mapped.

#ifndef INGOT_LOADERS_NATIVE_LOADED_EXTENT_H_
#define INGOT_LOADERS_NATIVE_LOADED_EXTENT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ingot {

// FailedPrecondition if these bytes of a library end before what the system
// maps of it, as those of a copy that was broken off do: the system would open
// it all the same, and reading what is missing ends the program. OK for all
// else that is no library of 64 bits, which the system refuses by itself.
absl::Status CheckLoadedExtent(absl::string_view library);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_LOADED_EXTENT_H_
