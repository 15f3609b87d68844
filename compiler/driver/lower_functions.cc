#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "compiler/driver/assumptions.h"
#include "compiler/driver/lower_function.h"
#include "compiler/driver/stages.h"
#include "compiler/relay/states.h"
#include "compiler/tir/arith/count_operations.h"
#include "compiler/tir/passes/pass.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

// The stage: one function after another.
class Lowering {
 public:
  explicit Lowering(Compilation* compilation) : c_(*compilation) {}

  absl::Status Run() {
    const absl::Time start = absl::Now();
    double done = 0;
    for (const auto& function : c_.module->functions()) {
      c_.Progress(function->name,
                  0.5 + 0.3 * done++ / c_.module->functions().size());
      // Composites are part of the regions that call them; the plan lists the
      // calls of main and of what branches and loops run.
      const bool is_graph =
          !function->attrs.Has("primitive") && !function->attrs.Has("target");
      if (is_graph) INGOT_RETURN_IF_ERROR(LookAtViews(*function));
      if (is_graph || function->attrs.Has("composite")) continue;
      INGOT_RETURN_IF_ERROR(Compile(*function));
    }
    c_.Time("lower", absl::ToDoubleSeconds(absl::Now() - start) - tir_seconds_);
    c_.Time("tir passes", tir_seconds_);
    return absl::OkStatus();
  }

 private:
  absl::Status LookAtViews(const relay::Function& function) {
    for (const auto& node : function.nodes()) {
      if (!node->IsView()) continue;
      INGOT_ASSIGN_OR_RETURN(c_.compiled.views[node.get()],
                             AssumptionsOf(*node));
    }
    return absl::OkStatus();
  }

  absl::Status Compile(const relay::Function& function) {
    INGOT_ASSIGN_OR_RETURN(TargetWork * work, c_.OwnerOf(function));
    CompiledFunction& compiled = c_.compiled.functions[function.name];
    INGOT_ASSIGN_OR_RETURN(compiled.symbol, SymbolOf(function.name));
    if (c_.options.on_function != nullptr) {
      c_.options.on_function(compiled.symbol, function.name);
    }
    compiled.source = c_.SourcesOf(function);
    compiled.updated_input = relay::UpdatedInput(function);
    if (!work->kind->device.empty()) {
      compiled.device_key = work->device_key;
      CompiledDevice& device = c_.compiled.devices[work->device_key];
      device.kind = work->kind->device;
      if (work->target.key != work->device_key) {
        device.shared_by.insert(work->target.key);
      }
    }
    INGOT_ASSIGN_OR_RETURN(compiled.assumptions,
                           AssumptionsOf(*c_.module, function));
    if (work->kind->relay_to_runtime == nullptr) {
      return LowerToLoops(function, work, &compiled);
    }
    absl::StatusOr<CodegenResult> result = work->kind->relay_to_runtime(
        work->target, *c_.module, function, compiled.symbol);
    if (!result.ok()) {
      return absl::Status(
          result.status().code(),
          absl::StrCat("target ", work->target.ToString(), ", region of ",
                       compiled.source, ": ", result.status().message()));
    }
    return c_.AddResult(work->target, *std::move(result));
  }

  absl::StatusOr<std::string> SymbolOf(absl::string_view function) {
    std::string symbol =
        absl::StrCat(c_.symbol_prefix, "_", ToIdentifier(function));
    if (!symbols_.insert(symbol).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two functions would have the symbol ", symbol,
                       "; one is ", function));
    }
    return symbol;
  }

  // Who picks the parameters of a kernel's schedule; null: the estimates do.
  PickerForGraph PickerFor(const relay::Function& function,
                           const TargetWork& work) {
    const CompileOptions& options = c_.options;
    if (options.pick_parameters == nullptr && options.tuning_log == nullptr) {
      return nullptr;
    }
    return [&](const te::Graph& graph, absl::Span<const te::Tensor> outputs) {
      const tuning::KernelToSchedule kernel = {function.name, work.target,
                                               work.machine, graph, outputs};
      return options.pick_parameters != nullptr
                 ? options.pick_parameters(kernel)
                 : options.tuning_log->PickerFor(kernel, &c_.log_use);
    };
  }

  // The loops of a function, and the code that they call.
  absl::StatusOr<LoweredRegion> Lower(const relay::Function& function,
                                      const TargetWork& work,
                                      const CompiledFunction& compiled) {
    if (work.kind->relay_to_tir != nullptr) {
      return work.kind->relay_to_tir(work.target, *c_.module, function,
                                     compiled.symbol);
    }
    INGOT_ASSIGN_OR_RETURN(
        tir::PrimFunc lowered,
        LowerFunction(function, compiled.symbol, work.kind->templates,
                      work.machine, PickerFor(function, work)));
    if (!compiled.source.empty()) lowered.attrs["sources"] = compiled.source;
    LoweredRegion region;
    region.functions.push_back(std::move(lowered));
    return region;
  }

  absl::Status LowerToLoops(const relay::Function& function, TargetWork* work,
                            CompiledFunction* compiled) {
    INGOT_ASSIGN_OR_RETURN(LoweredRegion region,
                           Lower(function, *work, *compiled));
    INGOT_RETURN_IF_ERROR(PassConstants(function.name, region.constants));
    // Loops that their target does not generate code for join the host's.
    TargetWork* const generator =
        work->kind->tir_to_runtime != nullptr ? work : c_.host;
    if (generator == nullptr || generator->kind->tir_to_runtime == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("target ", work->target.ToString(),
                       " makes loops but no code from them; add one that does "
                       "after it, such as ',llvm'"));
    }
    // It is linked with the loops that call it, so it gets their key.
    INGOT_RETURN_IF_ERROR(
        c_.AddResult(generator->target, std::move(region.code)));
    for (size_t i = 0; i < region.functions.size(); ++i) {
      INGOT_ASSIGN_OR_RETURN(tir::PrimFunc planned,
                             RunPasses(region.functions[i], *generator->kind));
      if (work->kind->relay_to_tir == nullptr) {
        GuardAssumptions(compiled->assumptions, &planned);
      }
      if (i == 0) {
        compiled->operations = tir::CountOperations(planned).value_or(0);
        compiled->workspaces.assign(
            planned.params.end() - planned.num_workspaces,
            planned.params.end());
      }
      generator->functions.push_back(std::move(planned));
    }
    return absl::OkStatus();
  }

  // All calls of a function give it these after its inputs.
  absl::Status PassConstants(
      const std::string& function,
      const std::vector<std::pair<std::string, Tensor>>& constants) {
    if (constants.empty()) return absl::OkStatus();
    for (const auto& caller : c_.module->functions()) {
      std::vector<relay::Node*> calls;
      for (const auto& node : caller->nodes()) {
        if (node->callee == function) calls.push_back(node.get());
      }
      if (calls.empty()) continue;
      for (const auto& [name, tensor] : constants) {
        const relay::Value constant{caller->AddConstant(name, tensor)};
        for (relay::Node* call : calls) call->inputs.push_back(constant);
      }
      INGOT_RETURN_IF_ERROR(caller->Sort());
    }
    return absl::OkStatus();
  }

  absl::StatusOr<tir::PrimFunc> RunPasses(const tir::PrimFunc& lowered,
                                          const TargetKind& generator) {
    std::vector<absl::string_view> passes = {"simplify", "plan_workspaces",
                                             "simplify"};
    passes.insert(passes.end(), generator.tir_passes.begin(),
                  generator.tir_passes.end());
    INGOT_RETURN_IF_ERROR(Tell("lower", lowered));
    tir::PassOptions options;
    options.after = [&](const tir::PassEvent& event) {
      tir_seconds_ += absl::ToDoubleSeconds(event.time);
      return event.changed ? Tell(event.pass.name, event.ir) : absl::OkStatus();
    };
    return tir::RunPasses(lowered, passes, options);
  }

  absl::Status Tell(absl::string_view stage, const tir::PrimFunc& loops) {
    if (c_.options.on_loops != nullptr) c_.options.on_loops(stage, loops);
    return c_.dump.Write(stage, loops);
  }

  Compilation& c_;
  std::set<std::string> symbols_;
  double tir_seconds_ = 0;
};

}  // namespace

absl::Status LowerFunctions(Compilation* c) { return Lowering(c).Run(); }

}  // namespace ingot
