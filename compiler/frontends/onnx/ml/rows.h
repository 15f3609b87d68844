// Rows of features, which the operators of ai.onnx.ml read. Internal to the
// ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_ML_ROWS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_ML_ROWS_H_

#include <cstdint>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"

namespace ingot::onnx_frontend {

// Operand 0 as rows of features [rows, n]; a vector is one row. `dtype` is what
// numbers of other types become.
Value Rows(Compose& k, DataType dtype = DataType::Float(32));

// x [..., n], which a run checks where n is not known otherwise.
Value FixColumns(Compose& k, Value x, int64_t n);

// The numbers as f32[shape], or another type of floats.
Value Numbers(Compose& k, const std::vector<double>& values,
              const std::vector<int64_t>& shape,
              DataType dtype = DataType::Float(32));

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_ML_ROWS_H_
