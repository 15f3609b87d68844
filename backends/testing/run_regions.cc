#include "backends/testing/run_regions.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/codegen/c_prelude.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/op.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/pattern.h"
#include "compiler/relay/verifier.h"
#include "compiler/target/target.h"
#include "gtest/gtest.h"

namespace ingot::testing_support {
namespace {

absl::StatusOr<std::vector<Tensor>> MakeInputs(const relay::Function& main,
                                               uint32_t seed) {
  std::vector<Tensor> inputs;
  for (const relay::Node* input : main.inputs) {
    const auto shape = relay::ConstShape(input->outputs[0].shape);
    if (!shape) {
      return absl::InvalidArgumentError(
          absl::StrCat(input->name, " has a dimension that is not known"));
    }
    INGOT_ASSIGN_OR_RETURN(Tensor tensor,
                           Tensor::Empty(input->outputs[0].dtype, *shape));
    FillExact(&tensor, seed++);
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

}  // namespace

absl::StatusOr<std::unique_ptr<relay::Module>> ParseRelay(
    absl::string_view text) {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<relay::Module> module,
                         relay::ReadModule(text));
  INGOT_RETURN_IF_ERROR(relay::Verify(*module));
  return module;
}

absl::StatusOr<ArtifactSet> GenerateRegion(absl::string_view target_text,
                                           absl::string_view text) {
  INGOT_ASSIGN_OR_RETURN(const Target target, ParseTarget(target_text));
  INGOT_ASSIGN_OR_RETURN(const TargetKind* kind,
                         BuiltinTargets().Check(target));
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<relay::Module> module,
                         ParseRelay(text));
  if (kind->constant_updater != nullptr) {
    INGOT_RETURN_IF_ERROR(kind->constant_updater(target, module->main()));
    for (const auto& node : module->main()->nodes()) {
      if (node->kind != relay::NodeKind::kConstant) continue;
      node->attrs.Set("constant", node->name);
    }
  }
  INGOT_ASSIGN_OR_RETURN(
      CodegenResult result,
      kind->relay_to_runtime(target, *module, *module->main(), "region"));
  ArtifactSet set;
  for (Artifact& artifact : result.artifacts) {
    INGOT_RETURN_IF_ERROR(set.Add(std::move(artifact)));
  }
  return set;
}

absl::StatusOr<ArtifactSet> CompileRelay(absl::string_view targets,
                                         absl::string_view text) {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<relay::Module> module,
                         ParseRelay(text));
  return CompileRelay(targets, module.get());
}

absl::StatusOr<ArtifactSet> CompileRelay(absl::string_view targets,
                                         relay::Module* module) {
  CompileOptions options;
  INGOT_ASSIGN_OR_RETURN(options.targets, ParseTargets(targets));
  if (options.targets.size() == 1) {
    options.strict = options.targets[0].Id();
    INGOT_ASSIGN_OR_RETURN(const Target host, ParseTarget("llvm"));
    options.targets.push_back(host);
  }
  options.target_text = std::string(targets);
  options.opt_level = 0;
  options.known_loaders = BuiltinLoaders().Names();
  options.known_loaders.push_back(kNativeLoader);
  return CompileModule(module, "test", "", BuiltinTargets(), options);
}

namespace {

// Whether the target may take anything of the function, before passes.
bool MayTake(const TargetKind& kind, const Target& target,
             const relay::Function& function) {
  if (function.attrs.Has("target")) return true;
  const auto users = function.Users();
  for (const auto& node : function.nodes()) {
    if (node->kind != relay::NodeKind::kOp) continue;
    if (kind.Takes(target, *node).ok()) return true;
    for (const CompositePattern& pattern : kind.patterns) {
      if (!relay::Match(pattern.pattern, node.get(), users, function.outputs)
               .empty()) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<Comparison> CompareRelay(absl::string_view targets,
                                        absl::string_view text, uint32_t seed,
                                        Tolerance tolerance) {
  INGOT_ASSIGN_OR_RETURN(const std::vector<Target> list, ParseTargets(targets));
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<relay::Module> compiled,
                         ParseRelay(text));
  INGOT_ASSIGN_OR_RETURN(const TargetKind* kind,
                         BuiltinTargets().Check(list[0]));
  Comparison comparison;
  bool may_take = false;
  for (const auto& function : compiled->functions()) {
    may_take = may_take || MayTake(*kind, list[0], *function);
  }
  if (!may_take) return comparison;
  INGOT_ASSIGN_OR_RETURN(const ArtifactSet set,
                         CompileRelay(targets, compiled.get()));
  for (const auto& function : compiled->functions()) {
    if (relay::TargetOf(function->attrs) != list[0].Id()) {
      continue;
    }
    for (const auto& node : function->nodes()) {
      if (node->kind == relay::NodeKind::kOp) {
        comparison.operators.insert(node->op->name);
      } else if (node->kind == relay::NodeKind::kCallFunction) {
        comparison.composites.insert(
            compiled->Find(node->callee)->attrs.Get<std::string>("composite"));
      }
    }
  }
  if (comparison.operators.empty() && comparison.composites.empty()) {
    return comparison;
  }
  INGOT_ASSIGN_OR_RETURN(const LoadedModel model, StoreAndLoad(set));
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<relay::Module> module,
                         ParseRelay(text));
  const relay::Function& main = *module->main();
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs,
                         MakeInputs(main, seed));
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> expected,
                         relay::EvaluateFunction(*module, main, inputs));
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> got,
                         RunModel(model, inputs));
  if (got.size() != expected.size()) {
    return absl::InternalError(
        absl::StrCat(got.size(), " outputs, not ", expected.size()));
  }
  for (size_t i = 0; i < got.size(); ++i) {
    INGOT_RETURN_IF_ERROR(CompareTensors(absl::StrCat("output ", i), got[i],
                                         expected[i], tolerance));
  }
  return comparison;
}

absl::Status CompareWithEvaluate(absl::string_view targets,
                                 absl::string_view text, uint32_t seed,
                                 Tolerance tolerance) {
  INGOT_ASSIGN_OR_RETURN(const Comparison comparison,
                         CompareRelay(targets, text, seed, tolerance));
  if (!comparison.operators.empty() || !comparison.composites.empty()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the first of ", targets, " took nothing"));
}

std::string TextOf(const ArtifactSet& set, absl::string_view codegen_id) {
  std::vector<std::string> found;
  for (const Artifact& artifact : set.artifacts()) {
    if (artifact.codegen_id == codegen_id) {
      found.emplace_back(artifact.content.view());
    }
  }
  EXPECT_EQ(found.size(), 1u) << "artifacts of " << codegen_id;
  if (found.size() != 1) return "";
  const size_t prelude = found[0].find(codegen::kCPrelude);
  if (prelude == std::string::npos) return found[0];
  return found[0].substr(prelude + strlen(codegen::kCPrelude));
}

std::string WhyNot(absl::string_view target_text, absl::string_view text) {
  const auto why = [&]() -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(const Target target, ParseTarget(target_text));
    INGOT_ASSIGN_OR_RETURN(const TargetKind* kind,
                           BuiltinTargets().Check(target));
    INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<relay::Module> module,
                           ParseRelay(text));
    return kind->Takes(target, *module->main()->nodes().back());
  }();
  return std::string(why.message());
}

}  // namespace ingot::testing_support
