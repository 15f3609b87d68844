// The stages of the pipeline, in the order in which compile.cc runs them.
#ifndef INGOT_COMPILER_DRIVER_STAGES_H_
#define INGOT_COMPILER_DRIVER_STAGES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/driver/compilation.h"
#include "compiler/driver/placement.h"

namespace ingot {

// choose_targets.cc: finds the kinds of the targets in the options, and which
// of them is the host.
absl::Status ChooseTargets(Compilation* compilation);

// choose_targets.cc: checks that every pinned node is there, and that every
// target can get something.
absl::Status CheckPins(Compilation* compilation);

// optimize_module.cc: runs the passes over the module, after which main calls
// one function for each kernel and each region of a target.
absl::Status OptimizeModule(Compilation* compilation);

// place_nodes.cc: which target takes each node of the model. Fails for an
// operator that none takes, and for nodes elsewhere than on a strict target.
absl::StatusOr<Placement> PlaceNodes(Compilation* compilation);

// update_constants.cc: lets targets name or rewrite the constants of their
// regions, and gives each that stays there its key.
absl::Status UpdateConstants(Compilation* compilation);

// lower_functions.cc: turns every function but main and the bodies of branches
// and loops into loops, or right into artifacts.
absl::Status LowerFunctions(Compilation* compilation);

// finish_set.cc: adds the plan, which is made from main.
absl::Status AddPlan(Compilation* compilation);

// finish_set.cc: adds the constants, which the compilations, one or more, have
// gathered in one pool.
absl::Status AddConstants(absl::Span<Compilation* const> compilations);

// add_main.cc: adds the same plan as one more function of the host, and its
// header; or says why there is none.
absl::Status AddMain(Compilation* compilation);

// generate_code.cc: has each target generate code from its loops.
absl::Status GenerateCode(Compilation* compilation);

// finish_set.cc: checks that the program to come knows every artifact's loader.
absl::Status CheckLoaders(const Compilation& compilation);

// finish_set.cc: what the set was made from and what it needs.
void FillProvenance(Compilation* compilation);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_STAGES_H_
