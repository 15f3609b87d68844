#ifndef INGOT_COMPILER_DRIVER_MODULE_PASSES_H_
#define INGOT_COMPILER_DRIVER_MODULE_PASSES_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/driver/ir_dump.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/passes/pass.h"

namespace ingot {

// Runs the passes that targets bring (TargetKind::module_passes), target by
// target, over the regions that partitioning gave each; a target without
// regions is skipped, and so is a pass that `should_run` says no to
// (CompileOptions::should_run_pass). Verifies the module after each pass that
// changed it, and writes it to `dump`. Errors name the target and the pass.
absl::Status RunModulePasses(
    absl::Span<const relay::TargetChoice> targets,
    const std::function<bool(absl::string_view)>& should_run,
    relay::Module* module, IrDump* dump);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_MODULE_PASSES_H_
