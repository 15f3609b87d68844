// Modules compiled for a list of targets, linked, loaded and run as users' are,
// and compared with the interpreter. For tests of backends that take regions.
#ifndef INGOT_BACKENDS_TESTING_RUN_REGIONS_H_
#define INGOT_BACKENDS_TESTING_RUN_REGIONS_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "backends/testing/run_kernels.h"
#include "backends/testing/run_model.h"
#include "compiler/relay/ir.h"
#include "runtime/tensor.h"

namespace ingot::testing_support {

// Parses and verifies a module in text form.
absl::StatusOr<std::unique_ptr<relay::Module>> ParseRelay(
    absl::string_view text);

// Calls the hooks constant_updater and relay_to_runtime of `target` on @main,
// as if it were a region without composites, with the symbol "region" and the
// names of constants as their keys. For golden texts; CompileRelay makes
// composites.
absl::StatusOr<ArtifactSet> GenerateRegion(absl::string_view target,
                                           absl::string_view text);

// Compiles the module for `targets`, such as "cblas,llvm", each built in or
// added by AddBackend (run_model.h), without changing the number or kind of its
// operators beforehand. A single target must take every node; llvm is then its
// host.
absl::StatusOr<ArtifactSet> CompileRelay(absl::string_view targets,
                                         absl::string_view text);
// The same for a module at hand, which is changed.
absl::StatusOr<ArtifactSet> CompileRelay(absl::string_view targets,
                                         relay::Module* module);

// Takes one module the whole way, on inputs that follow from `seed`, and
// compares its results with the interpreter's. The error says which output
// differs and where, or what failed; of several targets the first must have
// made something. Signed integer inputs are in [-16, 16], unsigned ones in [0,
// 15], others quarters in [-4, 4].
absl::Status CompareWithEvaluate(absl::string_view targets,
                                 absl::string_view text, uint32_t seed = 1,
                                 Tolerance tolerance = {});

// The operators and composites in the regions of the first target that a
// comparison covered. Both are empty where it took nothing, and nothing was
// run.
struct Comparison {
  std::set<std::string> operators, composites;
};

// As CompareWithEvaluate, but it is no error if the first target takes nothing.
absl::StatusOr<Comparison> CompareRelay(absl::string_view targets,
                                        absl::string_view text, uint32_t seed,
                                        Tolerance tolerance);

// The text of the only artifact of `codegen_id`, without what every C file
// begins with; fails the test if there is not exactly one.
std::string TextOf(const ArtifactSet& set, absl::string_view codegen_id);

// Returns why the target does not take the last operator of @main; empty if it
// does.
std::string WhyNot(absl::string_view target, absl::string_view text);

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_TESTING_RUN_REGIONS_H_
