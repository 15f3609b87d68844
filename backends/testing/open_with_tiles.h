// Models compiled for registers of tiles (AMX), opened on any x86-64.
#ifndef INGOT_BACKENDS_TESTING_OPEN_WITH_TILES_H_
#define INGOT_BACKENDS_TESTING_OPEN_WITH_TILES_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "runtime/executor/executor.h"

namespace ingot::testing_support {

// OK where CompileAndOpenWithTiles can run what it compiles: on x86-64 of
// Linux, unless AMX is missing and Linux installs no filter of system calls.
absl::Status TilesCanRun();

// Compiles the module, which is changed, by the target llvm with these options
// for this machine where it has AMX, else for AVX2 and AMX, which is emulated
// (isa/testing/emulate_amx.h): numbers are those of a processor with AMX, times
// are not. The errors of TilesCanRun, too.
absl::StatusOr<std::unique_ptr<GraphExecutor>> CompileAndOpenWithTiles(
    relay::Module* module, absl::string_view options);

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_TESTING_OPEN_WITH_TILES_H_
