// Artifact sets linked, loaded and run as users' are. For tests of anything
// that is compiled.
#ifndef INGOT_BACKENDS_TESTING_RUN_MODEL_H_
#define INGOT_BACKENDS_TESTING_RUN_MODEL_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "compiler/driver/compile.h"
#include "compiler/frontends/frontend.h"
#include "compiler/relay/ir.h"
#include "compiler/target/target.h"
#include "loaders/load.h"
#include "loaders/loader_registry.h"
#include "runtime/executor/executor.h"
#include "runtime/tensor.h"

namespace ingot::testing_support {

// Everything that is built in, and the parts that AddBackend added.
const TargetRegistry& BuiltinTargets();
const FrontendRegistry& BuiltinFrontends();
const LoaderRegistry& BuiltinLoaders();

// Adds a backend that is not built in, for the tests of this process: before
// the first of them, on one thread. The second function may be null. Errors:
// AlreadyExists.
absl::Status AddBackend(absl::Status (*register_target)(TargetRegistry*),
                        absl::Status (*register_loader)(LoaderRegistry*));

// Links a set into a shared library, loads it from there, and returns the
// container's set, loaded. The file is gone when this returns.
absl::StatusOr<LoadedModel> StoreAndLoad(const ArtifactSet& set);

// The same, ready to run. Each run is repeated by the model's main function,
// where the library has one: Internal where that gives other bits.
absl::StatusOr<std::unique_ptr<GraphExecutor>> Open(const ArtifactSet& set);

// Compiles the module, which is changed, for targets such as "dnnl,llvm".
absl::StatusOr<ArtifactSet> CompileFor(relay::Module* module,
                                       absl::string_view targets,
                                       CompileOptions options = {});

// The same, opened.
absl::StatusOr<std::unique_ptr<GraphExecutor>> CompileAndOpen(
    relay::Module* module, absl::string_view targets,
    CompileOptions options = {});

// Runs the model once, in both ways like Open.
absl::StatusOr<std::vector<Tensor>> RunModel(const LoadedModel& model,
                                             const std::vector<Tensor>& inputs);

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_TESTING_RUN_MODEL_H_
