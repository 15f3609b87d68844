#include "compiler/relay/passes/pass.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "compiler/relay/verifier.h"
#include "compiler/status_macros.h"

namespace ingot::relay {

const Pass* FindPass(absl::string_view name) {
  for (const Pass& pass : AllPasses()) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

absl::Status RunPasses(absl::Span<const std::string> names, Module* module,
                       PassContext* context, const PassOptions& options) {
  std::vector<const Pass*> passes;
  for (const std::string& name : names) {
    passes.push_back(FindPass(name));
    if (passes.back() == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("there is no pass '", name, "'; there are: ",
                       absl::StrJoin(AllPasses(), ", ",
                                     [](std::string* out, const Pass& pass) {
                                       absl::StrAppend(out, pass.name);
                                     })));
    }
  }
  auto in_pass = [](const Pass& pass, const absl::Status& status) {
    return absl::Status(status.code(), absl::StrCat("pass ", pass.name, ": ",
                                                    status.message()));
  };
  for (size_t i = 0; i < passes.size(); ++i) {
    const Pass& pass = *passes[i];
    const absl::Time start = absl::Now();
    const absl::StatusOr<bool> changed = pass.run(module, context);
    const absl::Duration time = absl::Now() - start;
    if (!changed.ok()) return in_pass(pass, changed.status());
    if (options.verify && *changed) {
      if (absl::Status status = Verify(*module); !status.ok()) {
        return in_pass(pass, status);
      }
    }
    if (options.after != nullptr) {
      INGOT_RETURN_IF_ERROR(options.after(
          PassEvent{static_cast<int>(i) + 1, pass, *module, *changed, time}));
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot::relay
