// The elements of a tensor as numbers, whatever their type.
#ifndef INGOT_LOADERS_INSPECTORS_TENSOR_VALUES_H_
#define INGOT_LOADERS_INSPECTORS_TENSOR_VALUES_H_

#include "absl/functional/function_ref.h"
#include "runtime/tensor.h"

namespace ingot {

// Calls `see` with each element, in order. Integers of 64 bits may lose some;
// a type that no number stands for is taken as its bytes.
void ForEachValue(const Tensor& tensor, absl::FunctionRef<void(double)> see);

}  // namespace ingot

#endif  // INGOT_LOADERS_INSPECTORS_TENSOR_VALUES_H_
