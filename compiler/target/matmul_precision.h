// The target option that lets products of f32 have fewer digits.
#ifndef INGOT_COMPILER_TARGET_MATMUL_PRECISION_H_
#define INGOT_COMPILER_TARGET_MATMUL_PRECISION_H_

#include "absl/status/statusor.h"
#include "compiler/target/target.h"

namespace ingot {

inline constexpr char kMatmulPrecisionOption[] = "matmul-precision";

// By PyTorch's words; each kind of target says what it does at each.
enum class MatmulPrecision { kHighest, kHigh, kMedium };

// The value of a target's option; kHighest without one. InvalidArgument names
// another word and those that there are.
absl::StatusOr<MatmulPrecision> ReadMatmulPrecision(const Target& target);

}  // namespace ingot

#endif  // INGOT_COMPILER_TARGET_MATMUL_PRECISION_H_
