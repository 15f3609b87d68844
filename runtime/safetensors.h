// safetensors: named tensors in one file, used where they are mapped. The
// format of weights.safetensors, and of what the compiler writes beside the
// text of a module.
//
//   8 bytes   little-endian length of the header
//   header    JSON: {"name": {"dtype": "F32", "shape": [2, 3],
//             "data_offsets": [begin, end]}, …, "__metadata__": {…}}
//   data      the elements, at the offsets that the header names
//
// Files that Ingot writes have their data section at a multiple of 64 bytes and
// tensors without holes, ordered so that each is aligned to its element, and
// those whose size is a multiple of 64 bytes (all big ones, as a rule) to 64
// bytes.
#ifndef INGOT_RUNTIME_SAFETENSORS_H_
#define INGOT_RUNTIME_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/blob.h"
#include "runtime/tensor.h"

namespace ingot {

using NamedTensors = std::map<std::string, Tensor>;

// The tensors of `blob`, read-only and sharing its bytes; nothing is copied,
// except tensors of a foreign file that are not aligned to their element.
// `blob` may come from anywhere: InvalidArgument says what is wrong with it and
// names the tensor. A type that Ingot does not have is Unimplemented.
absl::StatusOr<NamedTensors> ReadSafetensors(const Blob& blob);

// Maps the file at `path` and reads it.
absl::StatusOr<NamedTensors> ReadSafetensorsFile(absl::string_view path);

}  // namespace ingot

#endif  // INGOT_RUNTIME_SAFETENSORS_H_
