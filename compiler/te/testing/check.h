// For tests: does a scheduled graph compute what the plain loops compute?
#ifndef INGOT_COMPILER_TE_TESTING_CHECK_H_
#define INGOT_COMPILER_TE_TESTING_CHECK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/te/schedule.h"
#include "compiler/te/te.h"
#include "compiler/tir/ir.h"
#include "runtime/tensor.h"

namespace ingot::te {

// Numbers in definitions.
inline Expr I(int64_t value) { return tir::MakeInt(value); }
inline Expr F(double value) { return tir::MakeFloat(value); }

// A graph and its ends.
struct Kernel {
  Graph graph;
  std::vector<Tensor> inputs, outputs;
};

using DimValues = std::map<const tir::Var*, int64_t>;

std::vector<Expr> ConstShape(const std::vector<int64_t>& dims);

// Small whole numbers, so that sums are exact in any order. `dims` gives the
// symbolic dimensions' values.
std::vector<ingot::Tensor> RandomInputs(const Kernel& kernel,
                                        const DimValues& dims, unsigned seed);

// The outputs, by the interpreter. Lowers, verifies, and with `passes` also
// vectorizes and unrolls first. Test failures say what went wrong.
std::vector<ingot::Tensor> RunSchedule(const Kernel& kernel,
                                       const Schedule& schedule,
                                       const std::vector<ingot::Tensor>& inputs,
                                       const DimValues& dims, bool passes);

// Runs `schedule` against a schedule without verbs; f32 and i64 outputs.
void ExpectSame(const Kernel& kernel, const Schedule& schedule,
                const DimValues& dims = {}, float tolerance = 0);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_TESTING_CHECK_H_
