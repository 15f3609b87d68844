#include "backends/testing/run_model.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "backends/builtin.h"
#include "backends/testing/checked_executor.h"
#include "backends/testing/link_options.h"
#include "base/status_macros.h"
#include "compiler/frontends/builtin/builtin_frontends.h"
#include "loaders/native/linker.h"

namespace ingot::testing_support {
namespace {

// Built-in names that clash are a mistake of ours.
void Require(const absl::Status& status) {
  if (!status.ok()) std::abort();
}

// A file in the test's own folder that nothing else has.
std::string LibraryPath() {
  static std::atomic<int> count{0};
  const char* dir = std::getenv("TEST_TMPDIR");
  return absl::StrCat(dir != nullptr ? dir : "/tmp", "/model_", getpid(), "_",
                      count++, ".so");
}

TargetRegistry& Targets() {
  static TargetRegistry* const kTargets = [] {
    auto* targets = new TargetRegistry;
    Require(RegisterBuiltinTargets(targets));
    return targets;
  }();
  return *kTargets;
}

LoaderRegistry& Loaders() {
  static LoaderRegistry* const kLoaders = [] {
    auto* loaders = new LoaderRegistry;
    Require(RegisterCoreLoaders(loaders));
    Require(RegisterBuiltinLoaders(loaders));
    return loaders;
  }();
  return *kLoaders;
}

}  // namespace

const TargetRegistry& BuiltinTargets() { return Targets(); }
const LoaderRegistry& BuiltinLoaders() { return Loaders(); }

const FrontendRegistry& BuiltinFrontends() {
  static const FrontendRegistry* const kFrontends = [] {
    auto* frontends = new FrontendRegistry;
    Require(RegisterBuiltinFrontends(frontends));
    return frontends;
  }();
  return *kFrontends;
}

absl::Status AddBackend(absl::Status (*register_target)(TargetRegistry*),
                        absl::Status (*register_loader)(LoaderRegistry*)) {
  INGOT_RETURN_IF_ERROR(register_target(&Targets()));
  return register_loader == nullptr ? absl::OkStatus()
                                    : register_loader(&Loaders());
}

absl::StatusOr<LoadedModel> StoreAndLoad(const ArtifactSet& set) {
  const std::string library = LibraryPath();
  const absl::Cleanup remove = [&library] { unlink(library.c_str()); };
  INGOT_RETURN_IF_ERROR(LinkLibrary(set, library, TestLinkOptions()));
  return LoadPath(library, BuiltinLoaders());
}

// Random numbers are those that the interpreter gives.
ExecutorOptions RepeatableOptions() {
  ExecutorOptions options;
  options.random_seed = 0;
  return options;
}

absl::StatusOr<std::unique_ptr<GraphExecutor>> Open(const ArtifactSet& set) {
  INGOT_ASSIGN_OR_RETURN(const LoadedModel model, StoreAndLoad(set));
  return CreateCheckedExecutor(model, RepeatableOptions());
}

absl::StatusOr<ArtifactSet> CompileFor(relay::Module* module,
                                       absl::string_view targets,
                                       CompileOptions options) {
  options.target_text = std::string(targets);
  INGOT_ASSIGN_OR_RETURN(options.targets, ParseTargets(targets));
  return CompileModule(module, "test", /*sha256=*/"", BuiltinTargets(),
                       options);
}

absl::StatusOr<std::unique_ptr<GraphExecutor>> CompileAndOpen(
    relay::Module* module, absl::string_view targets, CompileOptions options) {
  INGOT_ASSIGN_OR_RETURN(const ArtifactSet set,
                         CompileFor(module, targets, std::move(options)));
  return Open(set);
}

absl::StatusOr<std::vector<Tensor>> RunModel(
    const LoadedModel& model, const std::vector<Tensor>& inputs) {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateCheckedExecutor(model, RepeatableOptions()));
  return executor->Run(inputs);
}

}  // namespace ingot::testing_support
