// The container in a linked library, without opening the library.

#ifndef INGOT_LOADERS_NATIVE_FIND_CONTAINER_H_
#define INGOT_LOADERS_NATIVE_FIND_CONTAINER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/blob.h"

namespace ingot {

// Whether the bytes start as those of a library do.
bool IsElf(absl::string_view bytes);

// The section kContainerSection of an ELF file, found by reading: nothing of
// the library runs. Shares the memory of `library`, whose bytes may be hostile.
// InvalidArgument: not an ELF file of 64 bits, or damaged. NotFound: it has no
// such section, or an empty one.
absl::StatusOr<Blob> FindContainer(const Blob& library);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_FIND_CONTAINER_H_
