#include "tests/filetests/relay_category.h"

#include <memory>
#include <string>
#include <vector>

#include "compiler/relay/parser.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"

namespace ingot::filetest {
namespace {

absl::StatusOr<std::string> RunRelay(absl::string_view input,
                                     absl::Span<const std::string> args) {
  absl::StatusOr<std::unique_ptr<relay::Module>> module =
      relay::ReadModule(input);
  if (!module.ok()) return module.status();
  if (absl::Status s = relay::Verify(**module); !s.ok()) return s;
  relay::PassContext context;
  context.cpu.vector_bits = 256;
  context.cpu.fma = true;
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
