// How far into its file a library is mapped.

#ifndef INGOT_LOADERS_NATIVE_LOADED_EXTENT_H_
#define INGOT_LOADERS_NATIVE_LOADED_EXTENT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ingot {

// FailedPrecondition if a library of `size` bytes, which begins with these,
// ends before what the system maps of it, as a copy that was broken off does:
// the system would open it all the same, and reading what is missing ends the
// program. OK for all else that is no library of 64 bits, which the system
// refuses by itself.
absl::Status CheckLoadedExtent(absl::string_view beginning, uint64_t size);

// The same of a file; OK for one that cannot be read, which dlopen explains.
// Reads its first page, which is quicker than mapping it.
absl::Status CheckLoadedExtentOfFile(const std::string& path);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_LOADED_EXTENT_H_
