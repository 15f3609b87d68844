// Elements of tensors as numbers, whatever their type.
#ifndef INGOT_TESTS_FUZZ_ONNX_ELEMENTS_H_
#define INGOT_TESTS_FUZZ_ONNX_ELEMENTS_H_

#include <cstdint>
#include <vector>

#include "runtime/data_type.h"
#include "runtime/tensor.h"

namespace ingot::fuzz {

// The number that ONNX's TensorProto.DataType and ONNX Runtime's C API have for
// a type.
int OnnxTypeOf(DataType t);

// The reverse; DataType::Handle() for types that random models do not use.
DataType TypeOfOnnx(int onnx_type);

// Element `i`. Integers of 64 bits are exact up to 2^53.
double ElementAt(const Tensor& tensor, int64_t i);

// Sets element `i` to `value`, rounded to the type.
void SetElementAt(Tensor* tensor, int64_t i, double value);

// A tensor of these elements.
Tensor TensorOf(DataType t, const std::vector<int64_t>& shape,
                const std::vector<double>& elements);

// The largest magnitude among finite elements; 0 without any.
double LargestMagnitude(const Tensor& tensor);

bool AllFinite(const Tensor& tensor);

// True when every element is a whole number.
bool AllWhole(const Tensor& tensor);

// True when types, shapes and bytes are equal.
bool SameBytes(const Tensor& a, const Tensor& b);

// The elements of a tensor of integers.
std::vector<int64_t> IntegersOf(const Tensor& tensor);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_ELEMENTS_H_
