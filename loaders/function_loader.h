// Loaders whose artifacts are a function each, such as a graph that an engine
// runs: what they share.
#ifndef INGOT_LOADERS_FUNCTION_LOADER_H_
#define INGOT_LOADERS_FUNCTION_LOADER_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/artifact.h"
#include "loaders/loader_registry.h"
#include "runtime/device.h"
#include "runtime/function.h"
#include "runtime/plan/call_spec.h"

namespace ingot {

// The function that an artifact becomes.
struct LoadedFunction {
  std::string name;
  Function function;
  // The types of its arguments, where they are known: an artifact that is a set
  // by itself gets a plan that calls it.
  std::optional<CallSpec> spec = std::nullopt;
};

// InvalidArgument with the text of `parts`: what is wrong with an artifact.
template <typename... Parts>
absl::Status Malformed(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// A function that calls `run` with the first elements of its arguments, inputs
// before outputs, once they are as `spec` says and on `device`. `run` may be
// called from several threads at once.
LoadedFunction CheckedFunction(
    std::string name, CallSpec spec,
    std::function<absl::Status(absl::Span<void* const> tensors)> run,
    Device device = Device::Cpu());

// Makes the function of one artifact, which may be hostile. Errors need not
// name the artifact.
using LoadFunctionFn = std::function<absl::StatusOr<LoadedFunction>(
    const Artifact&, LoadContext&)>;

// A module `kind` with the function of each artifact of `group`, for loaders
// that prepare something for all of them. Errors of `load`, and AlreadyExists
// for a name that is taken, each with the artifact's name in front.
absl::StatusOr<std::shared_ptr<Module>> LoadFunctions(
    absl::string_view kind, absl::Span<const Artifact> group,
    LoadContext& context, const LoadFunctionFn& load);

// Registers a loader `name` that does just that. Errors: AlreadyExists.
absl::Status RegisterFunctionLoader(absl::string_view name, LoadFunctionFn load,
                                    LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_LOADERS_FUNCTION_LOADER_H_
