// The whole compiler as one call: a model in, an ArtifactSet out.

#ifndef INGOT_COMPILER_DRIVER_COMPILE_H_
#define INGOT_COMPILER_DRIVER_COMPILE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/artifact_set.h"
#include "compiler/driver/placement.h"
#include "compiler/frontends/frontend.h"
#include "compiler/frontends/read_model.h"
#include "compiler/relay/ir.h"
#include "compiler/target/target.h"
#include "compiler/tir/ir.h"
#include "compiler/tuning/kernel.h"
#include "compiler/tuning/logged_parameters.h"

namespace ingot {

struct CompileOptions {
  // In order of preference. Those whose kind has regions take what they
  // support; the first of the others, the host, takes the rest. Kinds of last
  // resort (target.h) need not be named.
  std::vector<Target> targets;

  // Node of the model -> key or kind of the target that must take it.
  std::map<std::string, std::string> pins;

  // The key or kind of a target that must take every node; empty: none must.
  std::string strict;

  // The target as the user wrote it, for the provenance.
  std::string target_text;

  // Dimensions of inputs by name; they replace the model's own.
  std::map<std::string, std::vector<int64_t>> input_shapes;

  // Inputs that stay from run to run (frontends/frontend.h).
  std::vector<StateOption> states;

  // Values of the model that become outputs too (frontends/frontend.h).
  std::vector<std::string> extra_outputs;

  // Operators of the model that a target computes and Ingot does not know.
  std::vector<CustomOperator> custom_operators;

  // 0: only what correctness needs, one kernel an operator; 1: fold, simplify
  // and fuse; 2: also choose layouts and pack weights.
  int opt_level = 2;

  // A file of weights has so many bytes at most, unless one of its tensors has
  // more; others follow. (As Hugging Face's tools have it, but with room for
  // what most models are.)
  uint64_t weights_file_bytes = uint64_t{2} << 30;

  // Starts every symbol of the set. Empty: made from the model's name.
  std::string symbol_prefix;

  // The loaders that the program to come will know. When it is not empty, an
  // artifact that names another is an error now instead of at load.
  std::vector<std::string> known_loaders;

  // The directory in which to write the module after each pass that changed it;
  // empty: none.
  std::string dump_ir_dir;

  // Measurements of kernels: their schedules get their parameters from it,
  // as far as it knows them, and the provenance its digest. Null: templates'
  // estimates choose.
  std::shared_ptr<const tuning::LoggedParameters> tuning_log;

  // Asked for each kernel that a target's templates schedule: who picks the
  // parameters, in the log's place. May be null.
  tuning::PickParameters pick_parameters;

  // Asked before every pass over the module, by its name: relay's, then those
  // of targets as "kind.pass". One that it says no to is left out; a
  // compilation needs some of them, ReadOptimizedModel none. May be null: all
  // run.
  std::function<bool(absl::string_view pass)> should_run_pass;

  // Told the loops of each function, as they were lowered ("lower") and after
  // each pass that changed them. May be null.
  std::function<void(absl::string_view stage, const tir::PrimFunc& loops)>
      on_loops;

  // Told where time goes: a stage or pass and its seconds. May be null.
  std::function<void(absl::string_view stage, double seconds)> on_time;

  // Told where the nodes went, before code is generated. May be null.
  std::function<void(const Placement&)> on_placement;

  // Told the symbol under which code calls each function of the module. May be
  // null.
  std::function<void(absl::string_view symbol, absl::string_view function)>
      on_function;

  // Told what the frontend warns of (frontends/frontend.h). May be null.
  std::function<void(absl::string_view)> on_warning;

  // Told what is done now and how far it is, in [0, 1]. May be null.
  std::function<void(absl::string_view what, double fraction)> on_progress;
};

// Reads the model file at `path` by the frontend that accepts it, with the
// shapes that `options` fix. Errors: those of CompileModel.
absl::StatusOr<ReadModel> ReadModelToCompile(absl::string_view path,
                                             const FrontendRegistry& frontends,
                                             const CompileOptions& options);

// Compiles the model file at `path`. The same file, options and Ingot give the
// same set. Errors: InvalidArgument for a broken model or option,
// Unimplemented for what is not supported, each naming the node; NotFound for
// a missing file, an unknown target kind or a loader that is not known;
// FailedPrecondition for nodes that a strict target did not take.
absl::StatusOr<ArtifactSet> CompileModel(absl::string_view path,
                                         const FrontendRegistry& frontends,
                                         const TargetRegistry& kinds,
                                         const CompileOptions& options);

// As CompileModel, for a module that is at hand. Afterwards it is what code was
// generated for: main calls functions. `name` and `sha256` of what it was made
// from go into the provenance.
absl::StatusOr<ArtifactSet> CompileModule(relay::Module* module,
                                          absl::string_view name,
                                          absl::string_view sha256,
                                          const TargetRegistry& kinds,
                                          const CompileOptions& options);

// Compiles the model file at `path` once for each of `variants`, whose targets
// take the place of those in `options`, into one set (artifact/variants.h) with
// one file of weights: what several variants need alike is there once. The
// model is read again for each. Errors: as CompileModel, with the variant
// named.
absl::StatusOr<ArtifactSet> CompileVariants(
    absl::string_view path, const FrontendRegistry& frontends,
    const TargetRegistry& kinds, absl::Span<const TargetVariant> variants,
    const CompileOptions& options);

// Reads the model file at `path` and runs over it the passes that a compilation
// runs, relay's and then those of targets, as far as options.should_run_pass
// lets them: after each the module means the same. Generates no code. Errors:
// those of CompileModel up to there.
absl::StatusOr<ReadModel> ReadOptimizedModel(absl::string_view path,
                                             const FrontendRegistry& frontends,
                                             const TargetRegistry& kinds,
                                             const CompileOptions& options);

// Says which target would take each node of the model file at `path`, and why
// not an earlier one. Generates no code. Errors: those of CompileModel up to
// there.
absl::StatusOr<Placement> PlaceModel(absl::string_view path,
                                     const FrontendRegistry& frontends,
                                     const TargetRegistry& kinds,
                                     const CompileOptions& options);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_COMPILE_H_
