#ifndef INGOT_COMPILER_DRIVER_PLAN_BUILD_PLAN_H_
#define INGOT_COMPILER_DRIVER_PLAN_BUILD_PLAN_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/driver/plan/constant_pool.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"
#include "compiler/tir/ir.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// The calls that main makes in place of one function of the module.
struct CompiledFunction {
  std::string symbol;                   // its name in the artifacts
  std::vector<tir::Buffer> workspaces;  // that it wants after its outputs
  std::string source;                   // the model's nodes, for people
  // The dimensions that it relies on being equal.
  std::vector<relay::DimAssumption> assumptions;
  // The operations that it makes (tir/count_operations.h); 0: not known.
  uint64_t operations = 0;
  // The target key whose device it runs on; empty: the CPU.
  std::string device_key;
  // The input that its result is in the place of, and that it is not given;
  // -1: none.
  int updated_input = -1;
};

// A device that functions run on; not the CPU.
struct CompiledDevice {
  std::string kind;
  // Keys whose functions run on it, beside the one that it is for.
  std::set<std::string> shared_by;
};

// The functions that a plan calls and what it relies on, as lowering leaves
// them.
struct CompiledModule {
  std::map<std::string, CompiledFunction> functions;  // by name
  // The dimensions that views, which main and bodies like it hold, rely on
  // being equal.
  std::map<const relay::Node*, std::vector<relay::DimAssumption>> views;
  std::map<std::string, CompiledDevice> devices;  // by target key
};

// Turns main, which only holds inputs, constants, view operators,
// concatenations and slices that move no byte (relay/parts.h), bind_dims,
// random_state, device_copy, operators on sequences, calls of functions in
// `compiled`, and branches and loops over functions like it, into a plan: every
// value a place, every call its arguments, intermediate storage shared by life
// time. Views and parts of a value share its memory; constants go into
// `constants`. InvalidArgument when a dimension follows neither from the
// inputs' shapes nor from what a run binds before.
absl::StatusOr<Plan> BuildPlan(const relay::Module& module,
                               absl::string_view entry,
                               const CompiledModule& compiled,
                               ConstantPool* constants);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_PLAN_BUILD_PLAN_H_
