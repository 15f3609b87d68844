#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/status_macros.h"
#include "compiler/driver/stages.h"
#include "compiler/relay/passes/pass.h"

namespace ingot {

absl::Status OptimizeModule(Compilation* c) {
  INGOT_RETURN_IF_ERROR(relay::AskForLayouts(&c->context));
  if (c->options.opt_level == 0) c->context.max_group = 1;
  const std::vector<std::string> passes =
      relay::DefaultPasses(c->options.opt_level);
  relay::PassOptions pass_options;
  if (c->options.should_run_pass != nullptr) {
    pass_options.should_run = [&](const relay::Pass& pass) {
      return c->options.should_run_pass(pass.name);
    };
  }
  pass_options.after = [&](const relay::PassEvent& event) {
    c->Time(event.pass.name, absl::ToDoubleSeconds(event.time));
    c->Progress(event.pass.name,
                0.5 * event.index / static_cast<double>(passes.size()));
    return event.changed ? c->dump.Write(event.pass.name, event.ir)
                         : absl::OkStatus();
  };
  INGOT_RETURN_IF_ERROR(c->dump.Write("import", *c->module));
  return relay::RunPasses(passes, c->module, &c->context, pass_options);
}

}  // namespace ingot
