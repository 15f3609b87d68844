// The header of a safetensors file as its JSON says it, before anything in it
// is believed. Internal to the reader (safetensors.h).
#ifndef INGOT_RUNTIME_SAFETENSORS_HEADER_H_
#define INGOT_RUNTIME_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
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

// The entries of the JSON object `text` by tensor name, "__metadata__" left
// out. The text is read in one pass without a tree of its values, so memory
// stays in proportion to the entries. InvalidArgument for text that is not a
// JSON object, or that has a name or a field twice.
absl::StatusOr<std::map<std::string, SafetensorsEntry>> ParseSafetensorsHeader(
    absl::string_view text);

}  // namespace ingot

#endif  // INGOT_RUNTIME_SAFETENSORS_HEADER_H_
