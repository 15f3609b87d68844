// Writing safetensors (safetensors.h has the format). Apart from the reader, so
// that a deployed program does not carry it.
#ifndef INGOT_RUNTIME_SAFETENSORS_WRITER_H_
#define INGOT_RUNTIME_SAFETENSORS_WRITER_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/blob.h"
#include "runtime/safetensors.h"

namespace ingot {

// Writes `tensors`, all on the CPU, as pieces passed to `write` in order, so
// that nothing is held twice. The same tensors give the same bytes. Stops at
// the first piece that `write` fails for, with its status. InvalidArgument for
// a name that the format does not allow ("__metadata__", not UTF-8) or a type
// without a safetensors name.
absl::Status WriteSafetensors(
    const NamedTensors& tensors,
    const std::function<absl::Status(absl::string_view bytes)>& write);

// The bytes, in memory aligned to 64 bytes.
absl::StatusOr<Blob> SafetensorsToBlob(const NamedTensors& tensors);

// Writes the file, by way of a temporary one beside it that replaces it when
// complete.
absl::Status WriteSafetensorsFile(const NamedTensors& tensors,
                                  absl::string_view path);

}  // namespace ingot

#endif  // INGOT_RUNTIME_SAFETENSORS_WRITER_H_
