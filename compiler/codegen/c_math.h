#ifndef INGOT_COMPILER_CODEGEN_C_MATH_H_
#define INGOT_COMPILER_CODEGEN_C_MATH_H_

#include <set>
#include <string>

#include "absl/strings/string_view.h"

namespace ingot::codegen {

// The functions of f32 that C has from us: exp, tanh, erf, log, pow, sin and
// cos by the polynomials of LLVM's code (llvm/math.cc), and the small ones that
// they are made of. One text serves floats and vectors of them.
//
// A function is named as helpers are (c_printer.h): "ingot_exp_f32" for floats,
// "ingot_exp_f32x8" for vectors of eight.

// Says whether `op`, such as "exp", is one of them. The small functions
// "select" and "trunc" are so only for floats: vectors have them otherwise,
// too.
bool IsOwnMath(absl::string_view op, bool is_vector);

// Says whether it computes in doubles, which take twice the place of its
// floats.
bool IsInDoubles(absl::string_view op);

// Adds the functions that those of `helpers` call. `fused` as in MathSource.
void AddMathNeeds(std::set<std::string>* helpers, bool fused);

// Definitions come in the order of their ranks, those that others use first.
int MathRank(absl::string_view op);

// The definition of "ingot_<op>_<type>". Where `fused` is set, a multiply-add
// of floats rounds once, whatever the machine has.
std::string MathSource(absl::string_view op, absl::string_view type,
                       bool fused);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_C_MATH_H_
