// Passes over a function.
//
// To add one: a file with its function and that file's line in BUILD.bazel; the
// function and its row in passes.h.
#ifndef INGOT_COMPILER_TIR_PASSES_PASS_H_
#define INGOT_COMPILER_TIR_PASSES_PASS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/pass/pass.h"
#include "compiler/tir/ir.h"

namespace ingot::tir {

// A pass makes an equivalent function. It may be run any number of times and
// from any thread.
using Pass = ingot::Pass<PrimFunc>;
using PassEvent = ingot::PassEvent<PrimFunc>;
using PassOptions = ingot::PassOptions<PrimFunc>;

// Every pass built in.
const std::vector<Pass>& AllPasses();

// Runs the passes named, in order, on a copy. NotFound for an unknown name,
// before anything runs; what a pass, the verifier or `after` reports, with the
// names of the pass and the function.
absl::StatusOr<PrimFunc> RunPasses(const PrimFunc& func,
                                   absl::Span<const absl::string_view> names,
                                   const PassOptions& options = {});

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_PASSES_PASS_H_
