// Conversions between element types, the emulated ones included.
#ifndef INGOT_COMPILER_RELAY_IMPORT_CONVERT_ELEMENTS_H_
#define INGOT_COMPILER_RELAY_IMPORT_CONVERT_ELEMENTS_H_

#include "absl/status/statusor.h"
#include "compiler/relay/import/call_builder.h"
#include "compiler/relay/import/storage_type.h"

namespace ingot::relay {

// x's elements as ONNX's Cast converts them. `saturate`: for floats of 8 bits,
// what is too large becomes the largest number.
absl::StatusOr<Value> ConvertElements(CallBuilder& calls, Value x,
                                      const ElementType& from,
                                      const ElementType& to, bool saturate);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_IMPORT_CONVERT_ELEMENTS_H_
