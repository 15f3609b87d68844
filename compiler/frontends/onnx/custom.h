// Operators of ONNX models that a backend brings.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_CUSTOM_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_CUSTOM_H_

#include "compiler/frontends/frontend.h"
#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {

// Imports a node of that operator as relay's `custom`.
Converter CustomConverter(CustomOperator custom);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_CUSTOM_H_
