#include "backends/callback/loader.h"

#include <memory>

#include "backends/callback/live_function.h"
#include "loaders/function_loader.h"

namespace ingot {
namespace {

absl::StatusOr<LoadedFunction> LoadLive(const Artifact& artifact,
                                        LoadContext&) {
  if (artifact.live == nullptr) {
    return absl::FailedPreconditionError(
        "a function of the process that compiled the model, which no file "
        "holds; compile it again in this process");
  }
  const auto live =
      std::static_pointer_cast<callback::LiveFunction>(artifact.live);
  // The function keeps the object: the set may go before the model does.
  return CheckedFunction(
      live->symbol, live->spec,
      [live](absl::Span<void* const> tensors) { return live->run(tensors); });
}

}  // namespace

absl::Status RegisterCallbackLoader(LoaderRegistry* registry) {
  return RegisterFunctionLoader(callback::kLoader, LoadLive, registry);
}

}  // namespace ingot
