// Targets: what a region of the model is compiled for, and the hooks by which
// a backend decides how far Ingot's own lowering goes.
//
//   module_passes      all regions of the target at once, in their module
//   constant_updater   region -> region      names or rewrites the constants
//                                            that the backend owns
//   relay_to_runtime   region -> artifacts
//   relay_to_tir       region -> tir functions (and artifacts they call), which
//                                join memory planning and code generation
//   tir_to_runtime     tir functions -> artifacts
//
// A kind without relay_to_runtime and relay_to_tir gets Ingot's default
// lowering (te compute, schedule, tir): its machine, templates and layouts say
// how. A kind without tir_to_runtime leaves the loops to the host, the first
// target of the list without regions.
//
// A region is a function that the partition pass made: attrs {"target": key},
// its nodes operators the target `supports` and calls of composites, functions
// with attrs {"composite": pattern's name}.
#ifndef INGOT_COMPILER_TARGET_TARGET_H_
#define INGOT_COMPILER_TARGET_TARGET_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/artifact.h"
#include "compiler/machine/machine_model.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/pattern.h"
#include "compiler/target/layout_preferences.h"
#include "compiler/target/main_function.h"
#include "compiler/te/schedule_template.h"
#include "compiler/tir/ir.h"
#include "runtime/tensor.h"

namespace ingot {

// A kind with options, written `llvm -mcpu=native`; `key: kind -opt=value`
// names a sub-target, so that two targets of one kind live side by side.
struct Target {
  std::string key;   // becomes Artifact::target_key; "host" unless named
  std::string kind;  // a registered TargetKind
  std::map<std::string, std::string> options;  // without the leading dash

  std::string ToString() const;
  // The name that regions and pins use: the key, or the kind of a target
  // without one.
  std::string Id() const;
  std::string Option(absl::string_view name, absl::string_view otherwise) const;
};

// Parses one target. InvalidArgument says where the text goes wrong.
absl::StatusOr<Target> ParseTarget(absl::string_view text);
// Parses a composite, `dnnl,llvm -mcpu=native`: targets in order of preference.
absl::StatusOr<std::vector<Target>> ParseTargets(absl::string_view text);

// One of several ways to compile a model that lie side by side in one set
// (artifact/variants.h).
struct TargetVariant {
  std::string name;  // "" for the only one
  std::string text;  // the targets as the user wrote them
  std::vector<Target> targets;
};

// Parses `v3: llvm -mcpu=x86-64-v3; v4: dnnl,llvm -mcpu=x86-64-v4`: lists of
// targets with names, between semicolons. Text without a semicolon is one list
// as ParseTargets takes it. InvalidArgument for names that a variant cannot
// have, too.
absl::StatusOr<std::vector<TargetVariant>> ParseTargetVariants(
    absl::string_view text);

// -min-region=N, an option of every kind that has regions; Register adds it.
inline constexpr char kMinRegionOption[] = "min-region";

// Options of every codegen call, apart from its target.
struct CodegenOptions {
  // Prepended, with an underscore, to every symbol, so that two models live in
  // one process. Exported functions are __tvm_ffi_<function name>, and the
  // names of functions given to a codegen already carry the prefix.
  std::string symbol_prefix;
  // The model among the functions, for kinds that generate one
  // (main_function.h).
  std::optional<MainFunction> main;
};

// The code that a target made from a set of functions.
struct CodegenResult {
  // Those without a target key get the target's. Others keep theirs, such as
  // what the host runs for a device: kDefaultTargetKey.
  std::vector<Artifact> artifacts;
  std::vector<std::string> cpu_features;  // needed to run them, LLVM's names
  // Shared libraries, as provenance.proto says: "m", "openblas:libopenblas0".
  std::vector<std::string> link_libraries;
};

// A subgraph that a target takes as one operator.
struct CompositePattern {
  std::string name;  // becomes the composite's attribute: "conv2d_bias_relu"
  relay::Pattern pattern;
  // Whether the operators that matched, operands first, fit the target, or why
  // not, as TargetKind::supports says it. Null: they always do.
  std::function<absl::Status(const Target&, absl::Span<relay::Node* const>)>
      check;
};

// The result of relay_to_tir for a region.
struct LoweredRegion {
  // The first is the one to call, named as the hook was told; its parameters
  // are the region's inputs, then `constants`, then its outputs. Others are its
  // helpers.
  std::vector<tir::PrimFunc> functions;
  // Weights that the hook made, such as the region's own in another layout, by
  // names for people. They are stored with all others, equal ones once.
  std::vector<std::pair<std::string, Tensor>> constants;
  // Code that they call, such as C source.
  CodegenResult code;
};

// A pass that a target brings. It runs once for a target of the kind that has
// regions, over all of them at once, so that it can share between regions what
// the hooks that see one region cannot: a table, a memory, a kernel.
struct ModulePass {
  std::string name;
  std::string doc;  // one line
  // `regions` are the functions of `module` with attrs {"target": the target's
  // Id}, in its order. The pass may rewrite them, add such functions, remove
  // them with their calls, and change what main gives them; it leaves the
  // functions of other targets alone. The module verifies before and after.
  // Returns whether anything changed.
  std::function<absl::StatusOr<bool>(const Target&,
                                     absl::Span<relay::Function* const> regions,
                                     relay::Module* module)>
      run;
};

// An option of a kind, -name=value.
struct TargetOption {
  std::string doc;  // one line, without the default
  // The value that it has when it is not given, or in a few words what then
  // happens; empty: nothing.
  std::string otherwise;
};

struct TargetKind {
  std::string name;
  std::string doc;  // one line
  std::map<std::string, TargetOption> options;
  std::vector<std::string> loaders;  // that its artifacts name

  // Passes over loops that run, in this order, before tir_to_runtime: how far
  // vectors and unrolled copies are written out is the code generator's choice.
  std::vector<std::string> tir_passes;

  // The target triple of the machine that its code is for, whether or not a
  // model needs any code. Null: none, as of source code.
  std::function<absl::StatusOr<std::string>(const Target&)> triple;

  // Checks option values; InvalidArgument names the option and says what is
  // allowed. Unknown options are refused before this is called.
  std::function<absl::Status(const Target&)> check;

  // For the default lowering. The machine to schedule for; null: MachineModel's
  // defaults.
  std::function<absl::StatusOr<MachineModel>(const Target&)> machine;
  // The templates that schedule kernels; of those that cost the same the first
  // is taken. None: plain loops, one per axis.
  std::vector<te::ScheduleTemplate> templates;
  // The layouts that kernels of this kind want, on a host or on a device of
  // their own. Null: plain ones.
  std::function<LayoutPreferences(const MachineModel&)> layouts;

  // The machine and the layouts of a target of this kind, by the hooks above.
  absl::StatusOr<MachineModel> MachineOf(const Target& target) const;
  absl::StatusOr<LayoutPreferences> LayoutsOf(const Target& target) const;

  // The kind of device that its functions run on, as a LoaderRegistry knows it;
  // empty: the CPU. Arguments are then in the device's memory, and copies are
  // made where values come from elsewhere or are wanted there. A target without
  // a key gets the kind's name for one. Operators that such a kind takes by
  // `operators` and `supports` are fused and lowered to loops as a host's are.
  // Targets of one kind have a device each. A kind that is not named like its
  // device, such as a library for it, works on the device of the first target
  // that is, or shares one with its like.
  std::string device;

  // Null hooks are not offered.

  // Run before any other hook, in this order, after Ingot's own passes.
  std::vector<ModulePass> module_passes;
  // Called next. The constants that then are in the region stay in it: each
  // gets attrs {"constant": key}, under which the loader finds it, stored once
  // however many regions hold it; those of a kind with relay_to_tir are there
  // for that hook to read, and what the loops read is what it gives. For a kind
  // without this hook constants of more than one element are inputs of the
  // region instead.
  std::function<absl::Status(const Target&, relay::Function*)> constant_updater;

  // The region as artifacts, whose loaders offer a function `symbol` (in native
  // code: exported as __tvm_ffi_<symbol>) that takes the region's inputs, then
  // its outputs. Artifacts named after `symbol` never collide.
  std::function<absl::StatusOr<CodegenResult>(
      const Target&, const relay::Module&, const relay::Function&,
      absl::string_view symbol)>
      relay_to_runtime;
  std::function<absl::StatusOr<LoweredRegion>(
      const Target&, const relay::Module&, const relay::Function&,
      absl::string_view symbol)>
      relay_to_tir;
  std::function<absl::StatusOr<CodegenResult>(
      const Target&, absl::Span<const tir::PrimFunc>, const CodegenOptions&)>
      tir_to_runtime;
  // Whether that makes native code which offers CodegenOptions::main.
  bool generates_main = false;

  // Composites that the target takes, tried in this order and before single
  // operators.
  std::vector<CompositePattern> patterns;
  // The operators, by relay's names, that a kind with regions may take one by
  // one; others are refused without asking `supports`. An empty list, which
  // operators.emplace() makes and `= {}` does not: composites alone. Nothing:
  // which ones depends on its options, and `supports` is asked about all.
  std::optional<std::vector<std::string>> operators;
  // Whether the target takes a call of one of them: OkStatus, or why not, or
  // Aborted where it cannot say, which ends the compilation. Null: it takes
  // every such call.
  std::function<absl::Status(const Target&, const relay::Node&)> supports;
  // Regions with fewer operators stay with the next target, unless a node in
  // them is pinned. The option -min-region=N, which every kind with regions
  // has, overrides it.
  int min_region = 1;

  // Whether a compilation whose targets do not take an operator that has no
  // definition of its own asks this kind, too, without options and in front of
  // the host. Only for kinds with regions.
  bool last_resort = false;

  // Whether `patterns` hold the `dequantize` of their operands, weights among
  // them. Weights of bytes then stay bytes until regions are made, and each
  // operator has a `dequantize` of its own.
  bool takes_dequantized = false;

  // Says whether the target takes this operator by itself, by `operators` and
  // `supports`: OkStatus, or Unimplemented or another error that says why not.
  absl::Status Takes(const Target& target, const relay::Node& node) const;

  // Whether partitioning makes regions for it.
  bool HasRegions() const {
    return relay_to_runtime != nullptr || relay_to_tir != nullptr;
  }

  // Whether it takes every operator that those before it in the list leave.
  bool IsHost() const { return !HasRegions() && device.empty(); }
};

// The kinds built in: a value, filled explicitly.
class TargetRegistry {
 public:
  // AlreadyExists on a duplicate; InvalidArgument for a kind without a name,
  // for one that lists an operator that relay does not have, and for a list of
  // a kind without a hook that generates code for it.
  absl::Status Register(TargetKind kind);
  // NotFound lists the kinds that are known, and says which one was meant.
  absl::StatusOr<const TargetKind*> Find(absl::string_view kind) const;
  std::vector<const TargetKind*> All() const;  // in name order
  // Finds the kind of `target` and checks its options.
  absl::StatusOr<const TargetKind*> Check(const Target& target) const;
  // Checks each target of a list in order of preference, and the list: no two
  // have one Id, and none with regions stands after one without, which takes
  // every operator that is left. InvalidArgument says how to write it instead.
  absl::Status CheckList(absl::Span<const Target> targets) const;

 private:
  std::map<std::string, TargetKind> kinds_;
};

}  // namespace ingot

#endif  // INGOT_COMPILER_TARGET_TARGET_H_
