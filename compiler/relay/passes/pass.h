// Passes over a module.
//
// To add one: a file with its function and that file's line in BUILD.bazel; the
// function and its row in passes.h, where the list of those that a compilation
// runs stands too.
#ifndef INGOT_COMPILER_RELAY_PASSES_PASS_H_
#define INGOT_COMPILER_RELAY_PASSES_PASS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compiler/pass/pass.h"
#include "compiler/relay/ir.h"
#include "compiler/target/target.h"

namespace ingot::relay {

// One of the targets that a model is compiled for.
struct TargetChoice {
  Target target;
  const TargetKind* kind;  // not null; the registry's
  // The key of the target on whose device its functions run; empty: its own.
  std::string device_key;
};

// The reason why a target did not take a node.
struct Refusal {
  std::string target;  // as Target::ToString gives it
  std::string reason;
};

// Options of passes, apart from the module.
struct PassContext {
  // In order of preference, for `partition`. Those with regions of their own
  // get functions; the first of the others is the host, which takes what is
  // left. Empty: everything stays as it is.
  std::vector<TargetChoice> targets;
  // Model node -> the key or the kind of the target that must take it.
  std::map<std::string, std::string> pins;
  // Told by `partition`: model node -> who did not take it.
  std::map<std::string, std::vector<Refusal>> refusals;

  // Set by `partition`: what is left in main is the host's.
  bool partitioned = false;

  // The layouts that the host's kernels want.
  LayoutPreferences layouts;
  // Those that kernels on devices want, by Target::Id.
  std::map<std::string, LayoutPreferences> device_layouts;
  // Constants up to this size, and up to a quarter of it in elements, are
  // folded whatever made them; larger ones when they are not much larger than
  // the model's own constants that they are made from.
  int64_t fold_bytes = 1 << 20;
  // The most operators that one fused kernel holds.
  int max_group = 48;
};

// Asks the targets of a context for the layouts that they want. What the first
// host wants replaces `layouts`, if there is one.
absl::Status AskForLayouts(PassContext* context);

// The module is sorted and verifies before and after.
using Pass = ingot::Pass<Module, PassContext*>;
using PassEvent = ingot::PassEvent<Module, PassContext*>;
using PassOptions = ingot::PassOptions<Module, PassContext*>;

// Every pass built in, in the order in which a compilation may use them.
const std::vector<Pass>& AllPasses();

// The names of the passes that a compilation runs. Level 0: only what lowering
// needs; 1: without changes of layout; 2 and up: everything.
std::vector<std::string> DefaultPasses(int opt_level);

// Runs the passes named, in order. NotFound for an unknown name, before
// anything runs; what a pass, the verifier or `after` reports, with the name of
// the pass.
absl::Status RunPasses(absl::Span<const std::string> names, Module* module,
                       PassContext* context, const PassOptions& options = {});

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_PASS_H_
