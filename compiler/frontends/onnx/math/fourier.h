// Fourier transforms as products with matrices. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_MATH_FOURIER_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_MATH_FOURIER_H_

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/compose.h"

namespace ingot::onnx_frontend {

// The longest transform whose length importing knows: longer ones want another
// algorithm than a product.
inline constexpr int64_t kLongestTransform = 8192;

struct Fourier {
  tir::Expr length;   // of the transform
  int64_t parts = 1;  // of an element of the operand: 1 real, 2 complex
  bool inverse = false;
  bool onesided = false;

  // Whether a half of a spectrum becomes real numbers.
  bool IsRealInverse() const { return inverse && onesided; }
  // The number of elements of the result, and of the parts of each.
  tir::Expr ResultLength() const;
  int64_t ResultParts() const { return IsRealInverse() ? 1 : 2; }
};

// Transforms the rows of x[rows, elements, parts] and returns [rows,
// ResultLength, ResultParts]. Elements that are missing are 0, and those that
// are too many are left out. Unimplemented where the matrix, if importing knows
// its extents, would have more than 2^25 elements.
absl::StatusOr<Value> Transformed(Compose& k, Value x, const Fourier& fourier);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_MATH_FOURIER_H_
