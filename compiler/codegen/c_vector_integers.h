#ifndef INGOT_COMPILER_CODEGEN_C_VECTOR_INTEGERS_H_
#define INGOT_COMPILER_CODEGEN_C_VECTOR_INTEGERS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "compiler/codegen/c_vector_name.h"

namespace ingot::codegen {

// Definitions of the helpers (c_vector_helpers.h) that have to do with vectors
// of integers, by x86's instructions where the compiler may use them.

// "ingot_dot4_i32x16(x, y, z)": z and the products of four bytes in each lane,
// x's without a sign. `small`: those of x are less than 128.
std::string Dot4(const VectorName& t, bool small);

// "ingot_dot2_i32x16(x, y, z)": the same of two numbers of 16 bits.
std::string Dot2(const VectorName& t);

// "ingot_tou8_f32x16(x)": floats to integers of at most 16 bits, the limits for
// what is beyond them and 0 for NaN.
std::string Saturating(const VectorName& t, absl::string_view to);

// "ingot_toi32_u8x16(x)": integers to wider ones.
std::string Widening(const VectorName& t, const VectorName& to);

// The body of "ingot_min_u8x16(x, y)", or max, where no instruction does it.
std::string ExtremeByMask(const VectorName& t, bool is_min);

// "ingot_min_u8x16(x, y)".
std::string IntegerExtreme(const VectorName& t, bool is_min);

// "ingot_lookup_u8x16(p, x)": the elements of a table of 256 bytes whose places
// are the bytes of x.
std::string LookUp(const VectorName& t);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_C_VECTOR_INTEGERS_H_
