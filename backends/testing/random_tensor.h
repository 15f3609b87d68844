// Operands of tests.
#ifndef INGOT_BACKENDS_TESTING_RANDOM_TENSOR_H_
#define INGOT_BACKENDS_TESTING_RANDOM_TENSOR_H_

#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "runtime/tensor.h"

namespace ingot::testing_support {

// Numbers from `low` to `high`, equally likely, of the type that T is.
template <typename T>
Tensor RandomTensor(DataType dtype, const std::vector<int64_t>& shape,
                    double low, double high, unsigned seed) {
  using Distribution =
      std::conditional_t<std::is_integral_v<T>,
                         std::uniform_int_distribution<int64_t>,
                         std::uniform_real_distribution<double>>;
  using Number = typename Distribution::result_type;
  Tensor tensor = *Tensor::Empty(dtype, shape);
  std::mt19937 random(seed);
  Distribution number(static_cast<Number>(low), static_cast<Number>(high));
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    tensor.mutable_data<T>()[i] = static_cast<T>(number(random));
  }
  return tensor;
}

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_TESTING_RANDOM_TENSOR_H_
