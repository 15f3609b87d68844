#ifndef INGOT_COMPILER_DRIVER_COMPILATION_H_
#define INGOT_COMPILER_DRIVER_COMPILATION_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/ir_dump.h"
#include "compiler/driver/placement.h"
#include "compiler/driver/plan/build_plan.h"
#include "compiler/driver/plan/constant_pool.h"
#include "compiler/machine/machine_model.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/target/main_function.h"
#include "compiler/target/target.h"
#include "compiler/tir/ir.h"
#include "compiler/tuning/logged_parameters.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// One target of the list, with its kind and the loops that it generates code
// from.
struct TargetWork {
  Target target;
  const TargetKind* kind;
  MachineModel machine;
  std::vector<tir::PrimFunc> functions;
  // The key of the target on whose device its functions run: its own, or
  // another one's (TargetKind::device).
  std::string device_key;
};

// Needs of the code of one target key: the machine that runs it.
struct KeyNeeds {
  std::string triple;
  std::set<std::string> features, libraries;
};

// The value that goes through the pipeline. Each stage (stages.h) reads what
// those before it left here and leaves its own part.
struct Compilation {
  Compilation(relay::Module* module, absl::string_view name,
              absl::string_view sha256, const TargetRegistry& kinds,
              const CompileOptions& options, ConstantPool* constants);
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  // The module and how to compile it. All outlive the compilation.
  relay::Module* const module;
  const std::string name;    // of the model
  const std::string sha256;  // of what it was read from
  const TargetRegistry& kinds;
  const CompileOptions& options;
  // Grows from UpdateConstants to AddPlan; other compilations may use it, too.
  ConstantPool* const constants;
  const std::string symbol_prefix;
  IrDump dump;

  // From ChooseTargets.
  std::vector<TargetWork> targets;
  TargetWork* host = nullptr;  // of targets; null: regions are all there is

  // From CheckPins and OptimizeModule.
  relay::PassContext context;

  // From LowerFunctions.
  CompiledModule compiled;
  tuning::LogUse log_use;

  // From AddPlan.
  Plan plan;

  // From AddMain: the model as one of the host's functions, or why it is not.
  std::optional<MainFunction> main;
  std::string no_main;

  // From LowerFunctions on.
  ArtifactSet set;
  std::map<std::string, KeyNeeds> needs;  // by target key

  // The target that generates code for a function; regions that name none are
  // kernels of the host.
  absl::StatusOr<TargetWork*> OwnerOf(const relay::Function& function);

  // The model's nodes that a function computes: those inside, and those that
  // the calls of it stand for.
  std::string SourcesOf(const relay::Function& function) const;

  // Takes what a code generator made for a target.
  absl::Status AddResult(const Target& target, CodegenResult result);

  // Tells the options' listeners.
  void Time(absl::string_view stage, double seconds) const;
  void Progress(absl::string_view what, double fraction) const;
};

// The artifacts of the compiler itself, under the default target key.
inline constexpr char kCompilerCodegenId[] = "ingot";
// The name of the first, second, ... file of weights: weights.safetensors,
// weights_1.safetensors.
std::string WeightsFile(size_t i);

// A C identifier made of the letters and digits of `name`.
std::string ToIdentifier(absl::string_view name);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_COMPILATION_H_
