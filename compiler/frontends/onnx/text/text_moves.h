// Operators on text that are made of operators on numbers. Internal to the ONNX
// frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_TEXT_TEXT_MOVES_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_TEXT_TEXT_MOVES_H_

#include <string>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {

// The strings as a constant [n, width].
Value TextConstant(Compose& k, const std::vector<std::string>& strings);

// Whether the strings of a and of b are equal; their shapes broadcast. Null on
// an error, which k keeps.
Value TextsEqual(Compose& k, Value a, Value b);

// A converter of what only moves elements of some operands into its results,
// for text as well: `moves`, which never sees the text, moves the places of
// strings, and the strings follow. Operands that are no text are its own.
Converter WithTextSupport(const Converter& moves);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_TEXT_TEXT_MOVES_H_
