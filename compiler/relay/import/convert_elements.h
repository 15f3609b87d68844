// Conversions between element types, the emulated ones included.
#ifndef INGOT_COMPILER_RELAY_IMPORT_CONVERT_ELEMENTS_H_
#define INGOT_COMPILER_RELAY_IMPORT_CONVERT_ELEMENTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/relay/import/call_builder.h"
#include "compiler/relay/import/storage_type.h"

namespace ingot::relay {

struct Conversion {
  // A number that is too large for a small float, or a float too large for a
  // small integer, becomes the largest one; otherwise infinity or NaN, and the
  // low bits. Fractions are cut off on the way to integers.
  bool saturate = true;
  // For floats of an exponent alone: "up", "down" or "nearest".
  std::string rounding = "up";
};

// x's elements as ONNX's Cast converts them.
absl::StatusOr<Value> ConvertElements(CallBuilder& calls, Value x,
                                      const ElementType& from,
                                      const ElementType& to,
                                      const Conversion& how = {});

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_IMPORT_CONVERT_ELEMENTS_H_
