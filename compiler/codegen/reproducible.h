// Results with the same bits on every machine: what the option -reproducible of
// a target promises, as far as the code of kernels goes. (The order in which
// terms are added is the schedules' part: MachineModel::ForSums.)
//
// Every operation is done as it is written and rounded once; what is fused into
// one rounding is fused everywhere; and nothing is left to the C library, whose
// functions differ in their last bits. Not kept: the sign and the payload of a
// NaN.
#ifndef INGOT_COMPILER_CODEGEN_REPRODUCIBLE_H_
#define INGOT_COMPILER_CODEGEN_REPRODUCIBLE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/target/target.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

inline constexpr char kReproducibleOption[] = "reproducible";

// Describes the option, for kinds that keep the promise.
TargetOption ReproducibleOption();

// Says whether the target was asked for it. InvalidArgument for a value that is
// neither 0 nor 1.
absl::StatusOr<bool> IsReproducible(const Target& target);

// The kernels with all that a code generator could choose written out: sums
// with a product of f32 become kMulAdd, which then must round once, small
// constant powers become products. kMulAdd of f64 must round twice.
//
// Unimplemented names what a kernel computes that has no form of our own: a
// function of f64, a call of code that is not in `kernels`, tan and the inverse
// and hyperbolic functions.
absl::StatusOr<std::vector<tir::PrimFunc>> MakeReproducible(
    absl::Span<const tir::PrimFunc> kernels);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_REPRODUCIBLE_H_
