// Weights of few bits, as com.microsoft stores them. Internal to the ONNX
// frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_PACKED_NUMBERS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_PACKED_NUMBERS_H_

#include <cstdint>

#include "compiler/frontends/onnx/graph/compose.h"

namespace ingot::onnx_frontend {

// u8[rows, columns] of numbers of `bits` bits, 2, 4 or 8, from bytes that hold
// the first one in their low bits; each row begins with a byte of its own. Null
// on an error, which k keeps.
Value UnpackNumbers(Compose& k, Value bytes, int64_t bits,
                    const tir::Expr& rows, int64_t columns);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_PACKED_NUMBERS_H_
