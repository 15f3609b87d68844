// Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_CONSTANT_VALUE_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_CONSTANT_VALUE_H_

#include "absl/status/statusor.h"
#include "compiler/relay/ir.h"
#include "runtime/tensor.h"

namespace ingot::onnx_frontend {

// The elements of a value that depends on constants alone, computed now.
// FailedPrecondition when it depends on an input of the function or on a
// symbolic dimension; ResourceExhausted when computing takes too long.
absl::StatusOr<Tensor> ConstantValue(const relay::Value& value);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_CONSTANT_VALUE_H_
