#ifndef INGOT_COMPILER_DRIVER_MAIN_BUILD_MAIN_H_
#define INGOT_COMPILER_DRIVER_MAIN_BUILD_MAIN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/target/main_function.h"
#include "compiler/tir/ir.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// The function for a whole model is made of these.
struct MainParts {
  const Plan* plan;  // one that passes CheckPlan
  // The kernels that the target generates code for, by name.
  std::map<std::string, const tir::PrimFunc*> kernels;
  // The constants lie in one piece of memory of so many bytes, which a symbol
  // names, each at an offset by its key. No symbol: there are none.
  std::map<std::string, uint64_t> constant_offsets;
  uint64_t constants_bytes = 0;
  std::string constants_symbol;
  // The names of functions begin with this.
  std::string symbol_prefix;
};

struct BuiltMain {
  tir::PrimFunc function;  // PREFIX_main
  // PREFIX_output_shapes, where inputs decide on shapes of outputs.
  std::optional<tir::PrimFunc> output_shapes;
  MainFunction main;  // what code generators need to know of them
};

// The same plan as one function: it calls the kernels directly, and everything
// between inputs and outputs is in one arena at constant offsets (or such that
// are formulas over the inputs' dimensions). Unimplemented, naming the call or
// the dimension, for a plan that cannot be one: with functions that are no
// kernels, sequences, random numbers, or memory whose size a run decides.
absl::StatusOr<BuiltMain> BuildMain(const MainParts& parts);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_MAIN_BUILD_MAIN_H_
