// The parts that a program with the subcommands was built with.
#ifndef INGOT_TOOLS_INGOT_BACKENDS_H_
#define INGOT_TOOLS_INGOT_BACKENDS_H_

#include "absl/status/status.h"
#include "artifact/inspector.h"
#include "loaders/loader_registry.h"
#include "tools/ingot/compiler.h"

namespace ingot {

struct Backends {
  // Each registers one part of all backends. Neither is null. Errors:
  // AlreadyExists for two backends of one name.
  absl::Status (*register_loaders)(LoaderRegistry*);
  absl::Status (*register_inspectors)(InspectorRegistry*);

  // Null in a program without one, which starts the program of this file name
  // instead (start_compiler.h).
  Compiler* compiler = nullptr;
  const char* compiler_program = nullptr;
};

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_BACKENDS_H_
