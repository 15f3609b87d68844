// The header of a safetensors file as its JSON says it, before anything in it
// is believed. Internal to the reader (safetensors.h).
#ifndef INGOT_RUNTIME_SAFETENSORS_HEADER_H_
#define INGOT_RUNTIME_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ingot {

// One tensor's entry. A field is absent when the header lacks it or gives it
// another JSON type; an element of a list is absent when it is not an unsigned
// integer.
struct SafetensorsEntry {
  // Most lists have no more.
  using Numbers = absl::InlinedVector<std::optional<uint64_t>, 4>;

  bool is_object = false;
  std::optional<std::string> dtype;
  std::optional<Numbers> shape;
  std::optional<Numbers> data_offsets;
};

// Takes a tensor's name, which another tensor may have, and its entry.
using TakeSafetensorsEntry =
    absl::FunctionRef<absl::Status(std::string, const SafetensorsEntry&)>;

// Gives the entries of the JSON object `text` in their order, "__metadata__"
// left out. The text is read in one pass, and no more than one entry is in
// memory. The first error that `take` returns ends it, and InvalidArgument text
// that is not a JSON object, or that has a field of an entry twice.
absl::Status ReadSafetensorsHeader(absl::string_view text,
                                   TakeSafetensorsEntry take);

// The error for a name, or a field of an entry, that is there twice.
absl::Status RepeatedInSafetensorsHeader(absl::string_view name);

}  // namespace ingot

#endif  // INGOT_RUNTIME_SAFETENSORS_HEADER_H_
