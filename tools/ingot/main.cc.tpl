// Made by ingot_command() of tools/ingot_command.bzl.

#include "backends/light_inspectors.h"
#include "backends/light_loaders.h"
// {INCLUDES}
#include "tools/ingot/command.h"

namespace {

absl::Status RegisterLoaders(ingot::LoaderRegistry* registry) {
  absl::Status status = ingot::RegisterLightLoaders(registry);
  // {LOADER}
  return status;
}

absl::Status RegisterInspectors(ingot::InspectorRegistry* registry) {
  absl::Status status = ingot::RegisterLightInspectors(registry);
  // {INSPECTORS}
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  ingot::Backends backends = {RegisterLoaders, RegisterInspectors};
  backends.compiler_program = "{COMPILER}";
  return ingot::CommandMain(argc, argv, backends);
}
