#ifndef INGOT_TOOLS_EXPORT_C_WEIGHTS_SOURCE_H_
#define INGOT_TOOLS_EXPORT_C_WEIGHTS_SOURCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/blob.h"
#include "runtime/safetensors.h"

namespace ingot {

// C source that defines `symbol`: the data of a safetensors file, from byte
// `offset` on, as a constant array of bytes. `tensors` are those in it.
absl::StatusOr<std::string> WeightsSource(const Blob& file, uint64_t offset,
                                          absl::string_view symbol,
                                          const NamedTensors& tensors);

}  // namespace ingot

#endif  // INGOT_TOOLS_EXPORT_C_WEIGHTS_SOURCE_H_
