#include "tests/filetests/relay_category.h"

#include <memory>
#include <string>
#include <vector>

#include "compiler/relay/parser.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"
#include "compiler/schedules/cpu/layouts.h"

namespace ingot::filetest {
namespace {

absl::StatusOr<std::string> RunRelay(absl::string_view input,
                                     absl::Span<const std::string> args) {
  absl::StatusOr<std::unique_ptr<relay::Module>> module =
      relay::ReadModule(input);
  if (!module.ok()) return module.status();
  if (absl::Status s = relay::Verify(**module); !s.ok()) return s;
  relay::PassContext context;
  MachineModel machine;
  machine.vector_bits = 256;
  machine.fma = true;
  context.layouts = te::cpu::CpuLayouts(machine);
  if (absl::Status s = relay::RunPasses(args, module->get(), &context);
      !s.ok()) {
    return s;
  }
  return relay::Print(**module);
}

}  // namespace

void AddRelayCategories(Categories* categories) {
  (*categories)["relay"] = RunRelay;
}

}  // namespace ingot::filetest
