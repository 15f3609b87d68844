// Conversions between element types, those included that another type carries.
// Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_ELEMENTS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_ELEMENTS_H_

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/context.h"
#include "runtime/data_type.h"

namespace ingot::onnx_frontend {

struct ElementType {
  DataType dtype;  // of the tensor
  int stored = 0;  // ONNX's type that it carries (element_types.h); 0: its own

  // Unimplemented or InvalidArgument for a type that Ingot does not know.
  static absl::StatusOr<ElementType> Of(int onnx_type);
  // The element type of the node's operand i, whose value is `x`.
  static ElementType OfInput(const NodeContext& c, int i, const Value& x);
};

// x's elements as ONNX's Cast converts them. `saturate`: for floats of 8 bits,
// what is too large becomes the largest number.
absl::StatusOr<Value> ConvertElements(NodeContext& c, Value x,
                                      const ElementType& from,
                                      const ElementType& to, bool saturate);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_ELEMENTS_H_
