// Padding by amounts that only a run knows. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_SHAPE_PAD_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_SHAPE_PAD_H_

#include <string>

#include "compiler/frontends/onnx/graph/compose.h"

namespace ingot::onnx_frontend {

// x with so many elements before each dimension, then after each; none of the
// amounts may be negative. `mode` is one of Pad's; `value` that of "constant".
Value PadBySymbols(Compose& k, Value x, const Shape& pads,
                   const std::string& mode, double value);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_SHAPE_PAD_H_
