#include "compiler/driver/compile.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "artifact/target_keys.h"
#include "compiler/driver/constant_pool.h"
#include "compiler/driver/ir_dump.h"
#include "compiler/driver/lower_function.h"
#include "compiler/driver/placement.h"
#include "compiler/driver/plan_builder.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/status_macros.h"
#include "compiler/tir/passes/pass.h"
#include "runtime/safetensors_writer.h"

namespace ingot {
namespace {

// Artifacts of the compiler itself.
constexpr char kCodegenId[] = "ingot";
constexpr char kMetadataLoader[] = "metadata";

// A C identifier made of `name`'s letters and digits.
std::string Identifier(absl::string_view name) {
  std::string id;
  for (char c : name) id += absl::ascii_isalnum(c) ? c : '_';
  if (id.empty() || absl::ascii_isdigit(id[0])) id.insert(0, "m");
  return id;
}

class Compilation {
 public:
  Compilation(relay::Module* module, absl::string_view name,
              const TargetRegistry& kinds, const CompileOptions& options)
      : module_(module),
        name_(name),
        kinds_(kinds),
        options_(options),
        dump_(options.dump_ir_dir),
        prefix_(options.symbol_prefix.empty() ? Identifier(name)
                                              : options.symbol_prefix) {}

  // Everything that decides which target takes what.
  absl::StatusOr<Placement> Place() {
    INGOT_RETURN_IF_ERROR(CheckTargets());
    INGOT_RETURN_IF_ERROR(CheckPins());
    INGOT_RETURN_IF_ERROR(RunRelayPasses());
    INGOT_RETURN_IF_ERROR(CheckComputable());
    Placement placement =
        FindPlacement(*module_, host_ == nullptr ? "" : host_->target.Id(),
                      context_.refusals);
    if (!options_.strict.empty()) {
      INGOT_ASSIGN_OR_RETURN(std::string strict, StrictTarget());
      INGOT_RETURN_IF_ERROR(CheckStrict(placement, strict));
    }
    return placement;
  }

  absl::StatusOr<ArtifactSet> Run(absl::string_view sha256) {
    INGOT_ASSIGN_OR_RETURN(const Placement placement, Place());
    if (options_.on_placement != nullptr) options_.on_placement(placement);
    INGOT_RETURN_IF_ERROR(UpdateConstants());
    INGOT_RETURN_IF_ERROR(CompileFunctions());
    INGOT_RETURN_IF_ERROR(GenerateCode());
    INGOT_RETURN_IF_ERROR(AddPlanAndConstants());
    INGOT_RETURN_IF_ERROR(CheckLoaders());
    FillProvenance(sha256);
    return std::move(set_);
  }

 private:
  // The needs of the code of one target key.
  struct KeyNeeds {
    std::string triple;
    std::set<std::string> features, libraries;
  };

  // One target of the list, with its kind and the functions it is to generate.
  struct TargetWork {
    Target target;
    const TargetKind* kind;
    CpuModel cpu;
    std::vector<tir::PrimFunc> functions;
  };

  absl::Status CheckTargets() {
    INGOT_RETURN_IF_ERROR(kinds_.CheckList(options_.targets));
    for (const Target& target : options_.targets) {
      INGOT_ASSIGN_OR_RETURN(const TargetKind* kind, kinds_.Find(target.kind));
      TargetWork work{target, kind, CpuModel(), {}};
      if (kind->cpu_model != nullptr) {
        absl::StatusOr<CpuModel> cpu = kind->cpu_model(target);
        if (!cpu.ok()) return cpu.status();
        work.cpu = *cpu;
      }
      work_.push_back(std::move(work));
      context_.targets.push_back({target, kind});
    }
    for (TargetWork& work : work_) {
      if (host_ == nullptr && !work.kind->HasRegions()) host_ = &work;
    }
    return absl::OkStatus();
  }

  absl::Status CheckPins() {
    for (const auto& [node, target] : options_.pins) {
      bool found = false;
      for (const relay::ModelNode& n : module_->model_nodes) {
        found = found || n.name == node;
      }
      if (!found) {
        return absl::InvalidArgumentError(
            absl::StrCat("the model has no node '", node,
                         "', which is pinned "
                         "to ",
                         target));
      }
    }
    context_.pins = options_.pins;
    return CheckHosts();
  }

  // Checks that something is pinned to each target that takes every operator,
  // but the first: it would get nothing else.
  absl::Status CheckHosts() const {
    std::set<std::string> pinned;
    for (const auto& [node, target] : options_.pins) pinned.insert(target);
    for (const auto& function : module_->functions()) {
      for (const auto& node : function->nodes()) {
        pinned.insert(relay::TargetOf(node->attrs));
      }
    }
    for (const TargetWork& work : work_) {
      if (work.kind->HasRegions() || &work == host_ ||
          pinned.count(work.target.Id()) > 0 ||
          pinned.count(work.target.kind) > 0) {
        continue;
      }
      return absl::InvalidArgumentError(absl::StrCat(
          work.target.Id(), " gets nothing, because ", host_->target.Id(),
          " in front of it takes every operator and no node is pinned to ",
          work.target.Id(), "; pin one, or leave it out"));
    }
    return absl::OkStatus();
  }

  // The Id of the target that options_.strict means.
  absl::StatusOr<std::string> StrictTarget() const {
    std::vector<std::string> known;
    for (const TargetWork& work : work_) {
      if (work.target.Id() == options_.strict ||
          work.target.kind == options_.strict) {
        return work.target.Id();
      }
      known.push_back(work.target.Id());
    }
    return absl::InvalidArgumentError(
        absl::StrCat("strict target '", options_.strict,
                     "' is none of the targets: ", absl::StrJoin(known, ", ")));
  }

  absl::Status RunRelayPasses() {
    if (host_ != nullptr) context_.cpu = host_->cpu;
    if (options_.opt_level == 0) context_.max_group = 1;
    const std::vector<std::string> passes =
        relay::DefaultPasses(options_.opt_level);
    relay::PassOptions pass_options;
    pass_options.after = [&](const relay::PassEvent& event) {
      Time(event.pass.name, absl::ToDoubleSeconds(event.time));
      Progress(event.pass.name,
               0.5 * event.index / static_cast<double>(passes.size()));
      return event.changed ? dump_.Write(event.pass.name, event.module)
                           : absl::OkStatus();
    };
    INGOT_RETURN_IF_ERROR(dump_.Write("import", *module_));
    return relay::RunPasses(passes, module_, &context_, pass_options);
  }

  // Regions that nobody owns are kernels of the host.
  absl::StatusOr<TargetWork*> OwnerOf(const relay::Function& function) {
    const std::string owner = relay::TargetOf(function.attrs);
    if (owner.empty() && host_ != nullptr) return host_;
    for (TargetWork& work : work_) {
      if (work.target.Id() == owner) return &work;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("function ", function.name, " is for the target '", owner,
                     "', which is none of: ", options_.target_text));
  }

  // Operators that Ingot does not define itself are in the regions of targets.
  absl::Status CheckComputable() {
    for (const auto& function : module_->functions()) {
      if (function->attrs.Has("composite")) continue;
      for (const auto& node : function->nodes()) {
        if (node->kind != relay::NodeKind::kOp || !node->op->BackendOnly()) {
          continue;
        }
        INGOT_ASSIGN_OR_RETURN(TargetWork * work, OwnerOf(*function));
        if (work->kind->HasRegions()) continue;
        return absl::UnimplementedError(
            absl::StrCat("node '", Sources(*function), "': ", node->op->name,
                         " is not for target ", work->target.ToString(), "; ",
                         WhoTakes(*node)));
      }
    }
    return absl::OkStatus();
  }

  // What to do about a node that no target of the list took.
  std::string WhoTakes(const relay::Node& node) const {
    for (const TargetKind* kind : kinds_.All()) {
      const Target target{kDefaultTargetKey, kind->name, {}};
      if (!kind->HasRegions() || !kinds_.Check(target).ok() ||
          !kind->Takes(target, node).ok()) {
        continue;
      }
      std::string list = kind->name;
      for (const TargetWork& work : work_) {
        if (work.kind != kind) {
          absl::StrAppend(&list, ",", work.target.ToString());
        }
      }
      return absl::StrCat("compile with --target=", list);
    }
    return "no target that is built in takes it";
  }

  // Lets targets name or rewrite the constants of their regions, then gives
  // every one that stays there its key.
  absl::Status UpdateConstants() {
    for (const auto& function : module_->functions()) {
      if (!function->attrs.Has("target")) continue;
      INGOT_ASSIGN_OR_RETURN(TargetWork * work, OwnerOf(*function));
      if (work->kind->constant_updater == nullptr) continue;
      INGOT_RETURN_IF_ERROR(
          work->kind->constant_updater(work->target, function.get()));
      for (const auto& node : function->nodes()) {
        if (node->kind != relay::NodeKind::kConstant) continue;
        node->attrs.Set("constant", pool_.Add(node->name, *node->constant));
      }
    }
    return absl::OkStatus();
  }

  // Turns every function but main into loops, or right into artifacts.
  absl::Status CompileFunctions() {
    const absl::Time start = absl::Now();
    double done = 0;
    for (const auto& function : module_->functions()) {
      Progress(function->name,
               0.5 + 0.3 * done++ / module_->functions().size());
      // Composites are part of the regions that call them; the plan lists the
      // calls of main and of what branches and loops run.
      const bool is_graph =
          !function->attrs.Has("primitive") && !function->attrs.Has("target");
      if (is_graph || function->attrs.Has("composite")) continue;
      INGOT_ASSIGN_OR_RETURN(TargetWork * work, OwnerOf(*function));
      CompiledFunction& compiled = compiled_[function->name];
      INGOT_ASSIGN_OR_RETURN(compiled.symbol, SymbolOf(function->name));
      if (options_.on_function != nullptr) {
        options_.on_function(compiled.symbol, function->name);
      }
      compiled.source = Sources(*function);
      if (work->kind->relay_to_runtime == nullptr) {
        INGOT_RETURN_IF_ERROR(LowerToLoops(*function, work, &compiled));
        continue;
      }
      absl::StatusOr<CodegenResult> result = work->kind->relay_to_runtime(
          work->target, *module_, *function, compiled.symbol);
      if (!result.ok()) {
        return absl::Status(
            result.status().code(),
            absl::StrCat("target ", work->target.ToString(), ", region of ",
                         compiled.source, ": ", result.status().message()));
      }
      INGOT_RETURN_IF_ERROR(AddResult(work->target, *std::move(result)));
    }
    Time("lower", absl::ToDoubleSeconds(absl::Now() - start) - tir_seconds_);
    Time("tir passes", tir_seconds_);
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> SymbolOf(absl::string_view function) {
    std::string symbol = absl::StrCat(prefix_, "_", Identifier(function));
    if (!symbols_.insert(symbol).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two functions would have the symbol ", symbol,
                       "; one is ", function));
    }
    return symbol;
  }

  absl::Status LowerToLoops(const relay::Function& function, TargetWork* work,
                            CompiledFunction* compiled) {
    std::vector<tir::PrimFunc> lowered;
    CodegenResult code;  // what the loops call
    if (work->kind->relay_to_tir != nullptr) {
      absl::StatusOr<LoweredRegion> region = work->kind->relay_to_tir(
          work->target, *module_, function, compiled->symbol);
      if (!region.ok()) return region.status();
      lowered = std::move(region->functions);
      code = std::move(region->code);
    } else {
      absl::StatusOr<tir::PrimFunc> function_or =
          LowerFunction(function, compiled->symbol, work->cpu);
      if (!function_or.ok()) return function_or.status();
      if (!compiled->source.empty()) {
        function_or->attrs["sources"] = compiled->source;
      }
      lowered.push_back(*std::move(function_or));
    }
    // Loops that their target does not generate code for join the host's.
    TargetWork* const generator =
        work->kind->tir_to_runtime != nullptr ? work : host_;
    if (generator == nullptr || generator->kind->tir_to_runtime == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("target ", work->target.ToString(),
                       " makes loops but no code from them; add one that does "
                       "behind it, such as ',llvm'"));
    }
    // It is linked with the loops that call it, so it gets their key.
    INGOT_RETURN_IF_ERROR(AddResult(generator->target, std::move(code)));
    std::vector<absl::string_view> passes = {"simplify", "plan_workspaces",
                                             "simplify"};
    passes.insert(passes.end(), generator->kind->tir_passes.begin(),
                  generator->kind->tir_passes.end());
    for (size_t i = 0; i < lowered.size(); ++i) {
      absl::Status dumped = dump_.Write("lower", lowered[i]);
      tir::PassHooks hooks;
      hooks.after_pass = [&](const tir::Pass& pass, const tir::PrimFunc& result,
                             bool changed, double seconds) {
        tir_seconds_ += seconds;
        if (changed) dumped.Update(dump_.Write(pass.name, result));
      };
      absl::StatusOr<tir::PrimFunc> planned =
          tir::RunPasses(lowered[i], passes, hooks);
      if (!planned.ok()) return planned.status();
      if (work->kind->relay_to_tir == nullptr) {
        absl::Status guarded = GuardAssumptions(function, &*planned);
        if (!guarded.ok()) return guarded;
      }
      if (!dumped.ok()) return dumped;
      if (i == 0) {
        compiled->workspaces.assign(
            planned->params.end() - planned->num_workspaces,
            planned->params.end());
      }
      generator->functions.push_back(*std::move(planned));
    }
    return absl::OkStatus();
  }

  absl::Status GenerateCode() {
    for (TargetWork& work : work_) {
      if (work.functions.empty()) continue;
      const absl::Time start = absl::Now();
      Progress(absl::StrCat("generating ", work.functions.size(),
                            " kernels for ", work.target.ToString()),
               0.8);
      absl::StatusOr<CodegenResult> result = work.kind->tir_to_runtime(
          work.target, work.functions, CodegenOptions{prefix_});
      if (!result.ok()) {
        return absl::Status(result.status().code(),
                            absl::StrCat("target ", work.target.ToString(),
                                         ": ", result.status().message()));
      }
      if (absl::Status s = AddResult(work.target, *std::move(result));
          !s.ok()) {
        return s;
      }
      Time(absl::StrCat("codegen ", work.target.kind),
           absl::ToDoubleSeconds(absl::Now() - start));
    }
    return absl::OkStatus();
  }

  absl::Status AddResult(const Target& target, CodegenResult result) {
    for (Artifact& artifact : result.artifacts) {
      artifact.target_key = target.key;
      // What several regions bring, such as the functions that they call, is
      // one artifact if it is the same.
      const Artifact* same =
          set_.Find(target.key, artifact.codegen_id, artifact.file_name);
      if (same != nullptr && same->content.view() == artifact.content.view()) {
        continue;
      }
      if (absl::Status s = set_.Add(std::move(artifact)); !s.ok()) return s;
    }
    if (result.artifacts.empty()) return absl::OkStatus();
    KeyNeeds& needs = needs_[target.key];
    needs.features.insert(result.cpu_features.begin(),
                          result.cpu_features.end());
    needs.libraries.insert(result.link_libraries.begin(),
                           result.link_libraries.end());
    if (!result.target_triple.empty()) needs.triple = result.target_triple;
    return absl::OkStatus();
  }

  absl::Status AddPlanAndConstants() {
    Progress("planning memory", 0.95);
    const absl::Time start = absl::Now();
    INGOT_ASSIGN_OR_RETURN(const Plan built,
                           BuildPlan(*module_, name_, compiled_, &pool_));
    Artifact plan;
    plan.codegen_id = kCodegenId;
    plan.loader = kMetadataLoader;
    plan.file_name = "plan.binpb";
    plan.content = Blob::FromString(built.SerializeAsString());
    INGOT_RETURN_IF_ERROR(set_.Add(std::move(plan)));
    if (!pool_.constants().empty()) {
      Artifact weights;
      weights.codegen_id = kCodegenId;
      weights.loader = kConstantsLoader;
      weights.file_name = "weights.safetensors";
      INGOT_ASSIGN_OR_RETURN(weights.content,
                             SafetensorsToBlob(pool_.constants()));
      INGOT_RETURN_IF_ERROR(set_.Add(std::move(weights)));
    }
    Time("plan", absl::ToDoubleSeconds(absl::Now() - start));
    return absl::OkStatus();
  }

  absl::Status CheckLoaders() {
    const std::vector<std::string>& known = options_.known_loaders;
    if (known.empty()) return absl::OkStatus();
    for (const Artifact& artifact : set_.artifacts()) {
      if (std::find(known.begin(), known.end(), artifact.loader) ==
          known.end()) {
        return absl::NotFoundError(absl::StrCat(
            "artifact ", ArtifactPath(artifact), " needs the loader '",
            artifact.loader, "', which this Ingot does not have; known: ",
            absl::StrJoin(known, ", ")));
      }
    }
    return absl::OkStatus();
  }

  void FillProvenance(absl::string_view sha256) {
    Provenance& p = set_.mutable_provenance();
    p.set_ingot_version(kIngotVersion);
    p.set_model_name(name_);
    p.set_model_sha256(std::string(sha256));
    p.set_target(options_.target_text);
    auto option = [&p](absl::string_view name, absl::string_view value) {
      Provenance::Option* o = p.add_options();
      o->set_name(std::string(name));
      o->set_value(std::string(value));
    };
    option("opt-level", absl::StrCat(options_.opt_level));
    for (const auto& [input, shape] : options_.input_shapes) {
      option("input-shape",
             absl::StrCat(input, ":", absl::StrJoin(shape, "x")));
    }
    for (const auto& [node, target] : options_.pins) {
      option("pin", absl::StrCat(node, ":", target));
    }
    p.set_symbol_prefix(prefix_);
    for (const auto& [name, needs] : needs_) {
      Provenance::TargetKey* key = MutableTargetKey(&p, name);
      key->set_triple(needs.triple);
      for (const std::string& f : needs.features) key->add_cpu_features(f);
      for (const std::string& l : needs.libraries) key->add_link_libraries(l);
    }
  }

  // The model's nodes that a function computes: those inside, and those that
  // the calls of it stand for.
  std::string Sources(const relay::Function& function) const {
    std::vector<std::string> sources;
    auto add = [&sources](const relay::Node& node) {
      for (const std::string& source : node.sources) {
        if (std::find(sources.begin(), sources.end(), source) ==
            sources.end()) {
          sources.push_back(source);
        }
      }
    };
    for (const auto& node : function.nodes()) add(*node);
    for (const auto& caller : module_->functions()) {
      for (const auto& node : caller->nodes()) {
        if (node->callee == function.name) add(*node);
      }
    }
    return absl::StrJoin(sources, ", ");
  }

  void Time(absl::string_view stage, double seconds) const {
    if (options_.on_time != nullptr) options_.on_time(stage, seconds);
  }
  void Progress(absl::string_view what, double fraction) const {
    if (options_.on_progress != nullptr) options_.on_progress(what, fraction);
  }

  relay::Module* const module_;
  const std::string name_;
  const TargetRegistry& kinds_;
  const CompileOptions& options_;
  IrDump dump_;
  const std::string prefix_;

  std::vector<TargetWork> work_;
  TargetWork* host_ = nullptr;  // of work_; null: regions are all there is
  relay::PassContext context_;
  ConstantPool pool_;
  std::set<std::string> symbols_;
  std::map<std::string, CompiledFunction> compiled_;
  ArtifactSet set_;
  std::map<std::string, KeyNeeds> needs_;  // by target key
  double tir_seconds_ = 0;
};

}  // namespace

absl::StatusOr<ReadModel> ReadModelToCompile(absl::string_view path,
                                             const FrontendRegistry& frontends,
                                             const CompileOptions& options) {
  if (options.on_progress != nullptr) options.on_progress("importing", 0);
  const absl::Time start = absl::Now();
  ImportOptions import;
  import.input_shapes = options.input_shapes;
  import.extra_outputs = options.extra_outputs;
  INGOT_ASSIGN_OR_RETURN(ReadModel model,
                         ReadModelFile(path, frontends, std::move(import)));
  if (options.on_time != nullptr) {
    options.on_time("import", absl::ToDoubleSeconds(absl::Now() - start));
  }
  return model;
}

absl::StatusOr<ArtifactSet> CompileModel(absl::string_view path,
                                         const FrontendRegistry& frontends,
                                         const TargetRegistry& kinds,
                                         const CompileOptions& options) {
  INGOT_ASSIGN_OR_RETURN(ReadModel model,
                         ReadModelToCompile(path, frontends, options));
  return CompileModule(&model.module, model.name, model.sha256, kinds, options);
}

absl::StatusOr<Placement> PlaceModel(absl::string_view path,
                                     const FrontendRegistry& frontends,
                                     const TargetRegistry& kinds,
                                     const CompileOptions& options) {
  INGOT_ASSIGN_OR_RETURN(ReadModel model,
                         ReadModelToCompile(path, frontends, options));
  return Compilation(&model.module, model.name, kinds, options).Place();
}

absl::StatusOr<ArtifactSet> CompileModule(relay::Module* module,
                                          absl::string_view name,
                                          absl::string_view sha256,
                                          const TargetRegistry& kinds,
                                          const CompileOptions& options) {
  return Compilation(module, name, kinds, options).Run(sha256);
}

}  // namespace ingot
