// Values that constants alone determine.
#ifndef INGOT_COMPILER_RELAY_INTERPRETER_CONSTANT_VALUE_H_
#define INGOT_COMPILER_RELAY_INTERPRETER_CONSTANT_VALUE_H_

#include "absl/status/statusor.h"
#include "compiler/relay/ir.h"
#include "runtime/tensor.h"

namespace ingot::relay {

// The elements of a value that depends on constants alone, computed now.
// FailedPrecondition when it depends on an input of the function or on a
// symbolic dimension; ResourceExhausted when computing takes too long.
absl::StatusOr<Tensor> ConstantValue(const Value& value);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_INTERPRETER_CONSTANT_VALUE_H_
