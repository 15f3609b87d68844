// How floats are divided by a constant where their quotients are rounded to
// bytes: by a product and a product with a sum, which take a fifth of the time.
#ifndef INGOT_COMPILER_CODEGEN_BYTE_RECIPROCAL_H_
#define INGOT_COMPILER_CODEGEN_BYTE_RECIPROCAL_H_

#include <optional>

namespace ingot::codegen {

// fma(x, high, x * low) rounds to the same whole number as x / scale.
struct ByteReciprocal {
  float high = 0, low = 0;
};

// The reciprocal that does so for every x whose quotient rounds to one of the
// numbers from `low` to `high`, and both of these times the scale, as floats,
// become them again. None where there is none.
// (N. Brisebarre, J.-M. Muller and S. K. Raina, Accelerating correctly rounded
// floating-point division when the divisor is known in advance, 2004.)
std::optional<ByteReciprocal> FindByteReciprocal(float scale, int low,
                                                 int high);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_BYTE_RECIPROCAL_H_
