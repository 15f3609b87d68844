// Made by ingot_command() of tools/ingot_command.bzl.

#include "backends/builtin.h"
#include "compiler/frontends/builtin/builtin_frontends.h"
// {INCLUDES}
#include "tools/ingot/compiler_command.h"

namespace {

absl::Status RegisterFrontends(ingot::FrontendRegistry* registry) {
  absl::Status status = ingot::RegisterBuiltinFrontends(registry);
  // {FRONTEND}
  return status;
}

absl::Status RegisterTargets(ingot::TargetRegistry* registry) {
  absl::Status status = ingot::RegisterBuiltinTargets(registry);
  // {CODEGEN}
  return status;
}

absl::Status RegisterLoaders(ingot::LoaderRegistry* registry) {
  absl::Status status = ingot::RegisterBuiltinLoaders(registry);
  // {LOADER}
  return status;
}

absl::Status RegisterInspectors(ingot::InspectorRegistry* registry) {
  absl::Status status = ingot::RegisterBuiltinInspectors(registry);
  // {INSPECTORS}
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  return ingot::CompilerCommandMain(argc, argv,
                                    {RegisterFrontends, RegisterTargets,
                                     RegisterLoaders, RegisterInspectors});
}
