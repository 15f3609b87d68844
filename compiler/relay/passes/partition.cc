// partition: each target takes, in order of preference, the operators that it
// supports; what feeds one another becomes one region, a function of that
// target; the host keeps the rest.
//
//   %c = conv2d(%x, %w)              func @dnnl_0(%x) attrs {target="dnnl"} {
//   %r = relu(%c)            ->        %r = @dnnl_0_conv2d_relu_0(%x, %w) }
//   %y = nonzero(%r)                 %r = @dnnl_0(%x); %y = nonzero(%r)
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/outline_region.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/quantized_operands.h"
#include "compiler/relay/passes/regions.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {
namespace {

std::string Describe(const Node& node) {
  if (node.sources.empty()) return absl::StrCat("node ", QuoteName(node.name));
  return absl::StrCat("node ", absl::StrJoin(node.sources, ", "));
}

class Partitioner {
 public:
  Partitioner(Module* module, Function* function, PassContext* context)
      : module_(module),
        function_(function),
        context_(context),
        users_(function->Users()),
        graph_(*function) {}

  absl::StatusOr<bool> Run() {
    INGOT_RETURN_IF_ERROR(ResolvePins());
    const std::vector<TargetChoice>& targets = context_->targets;
    size_t host = 0;
    for (; host < targets.size(); ++host) {
      const TargetKind& kind = *targets[host].kind;
      if (kind.IsHost()) break;
      INGOT_RETURN_IF_ERROR(kind.HasRegions() ? Choose(targets[host])
                                              : TakeNodes(targets[host]));
    }
    INGOT_RETURN_IF_ERROR(PlaceTheRest(host));
    for (const auto& [choice, region] : regions_) {
      const std::string& key = choice->target.key;
      INGOT_RETURN_IF_ERROR(OutlineRegion(
          module_, function_, region,
          key == kDefaultTargetKey ? choice->target.kind : key,
          choice->target.Id(), choice->kind->constant_updater != nullptr));
    }
    if (!regions_.empty()) INGOT_RETURN_IF_ERROR(function_->Sort());
    return changed_ || !regions_.empty();
  }

 private:
  // The target that `name` means: a key, or else a kind.
  absl::StatusOr<const TargetChoice*> FindTarget(const std::string& name) {
    std::vector<std::string> known;
    for (const TargetChoice& choice : context_->targets) {
      if (choice.target.Id() == name) return &choice;
      known.push_back(choice.target.ToString());
    }
    for (const TargetChoice& choice : context_->targets) {
      if (choice.target.kind == name) return &choice;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "'", name,
        "' is none of the targets; they are: ", absl::StrJoin(known, ", ")));
  }

  absl::Status ResolvePins() {
    for (const auto& node : function_->nodes()) {
      std::string wanted = TargetOf(node->attrs);
      for (const std::string& source : node->sources) {
        auto it = context_->pins.find(source);
        if (it != context_->pins.end()) wanted = it->second;
      }
      if (wanted.empty() || !node->IsKernel()) continue;
      absl::StatusOr<const TargetChoice*> target = FindTarget(wanted);
      if (!target.ok()) {
        return absl::InvalidArgumentError(absl::StrCat(
            Describe(*node), " is pinned: ", target.status().message()));
      }
      pinned_[node.get()] = *target;
    }
    return absl::OkStatus();
  }

  bool MayTake(const TargetChoice& choice, const Node* node) const {
    if (!node->IsKernel() || taken_.count(node) > 0) return false;
    auto pin = pinned_.find(node);
    return pin == pinned_.end() || pin->second == &choice;
  }

  void Refuse(const TargetChoice& choice, const Node& node,
              absl::string_view reason) {
    for (const std::string& source : node.sources) {
      std::vector<Refusal>& list = context_->refusals[source];
      const std::string target = choice.target.ToString();
      if (!list.empty() && list.back().target == target) continue;
      list.push_back({target, std::string(reason)});
    }
  }

  // Passes on what a hook said where the hook itself failed: that is no reason
  // to give the node to another target.
  static absl::Status FailureToAnswer(const absl::Status& said,
                                      const TargetChoice& choice,
                                      const Node& node) {
    if (!absl::IsAborted(said)) return absl::OkStatus();
    return Annotate(said, absl::StrCat("target ", choice.target.ToString(),
                                       ", asked about ", Describe(node)));
  }

  // A composite that ends in `root` and that the target takes; empty if none.
  // `*why_not` then is what the check of the first one that is there says.
  absl::StatusOr<RegionUnit> FindComposite(const TargetChoice& choice,
                                           Node* root, std::string* why_not) {
    for (const CompositePattern& pattern : choice.kind->patterns) {
      std::vector<Node*> nodes =
          Match(pattern.pattern, root, users_, function_->outputs);
      bool fits = !nodes.empty();
      for (const Node* node : nodes) {
        fits = fits && (node->IsView() || MayTake(choice, node));
      }
      if (!fits) continue;
      const absl::Status checked = pattern.check == nullptr
                                       ? absl::OkStatus()
                                       : pattern.check(choice.target, nodes);
      if (checked.ok()) return RegionUnit{std::move(nodes), pattern.name};
      INGOT_RETURN_IF_ERROR(FailureToAnswer(checked, choice, *root));
      if (why_not->empty()) {
        *why_not = absl::StrCat("as ", pattern.name, ": ", checked.message());
      }
    }
    return RegionUnit();
  }

  absl::Status Choose(const TargetChoice& choice) {
    std::vector<RegionUnit> units;
    // From the end, so that the longest chain that ends in a node wins.
    const auto& nodes = function_->nodes();
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      Node* node = it->get();
      if (!MayTake(choice, node)) {
        if (node->IsKernel() && taken_.count(node) == 0) {
          Refuse(choice, *node,
                 absl::StrCat("is pinned to ",
                              pinned_.at(node)->target.ToString()));
        }
        continue;
      }
      std::string why_not;
      INGOT_ASSIGN_OR_RETURN(RegionUnit unit,
                             FindComposite(choice, node, &why_not));
      if (unit.nodes.empty()) {
        const absl::Status supported = choice.kind->Takes(choice.target, *node);
        if (!supported.ok()) {
          INGOT_RETURN_IF_ERROR(FailureToAnswer(supported, choice, *node));
          // The reason against a composite says more than that against a single
          // operator.
          if (why_not.empty()) why_not = std::string(supported.message());
          if (pinned_.count(node) > 0) {
            return absl::InvalidArgumentError(absl::StrCat(
                Describe(*node), " is pinned to ", choice.target.ToString(),
                ", which does not take it: ", why_not));
          }
          Refuse(choice, *node, why_not);
          continue;
        }
        unit.nodes = {node};
      }
      taken_.insert(unit.nodes.begin(), unit.nodes.end());
      units.push_back(std::move(unit));
    }
    int smallest = choice.kind->min_region;
    const std::string option = choice.target.Option(kMinRegionOption, "");
    // The registry checked the option's value.
    if (!option.empty()) (void)absl::SimpleAtoi(option, &smallest);
    for (Region& region : graph_.Grow(units)) {
      if (region.num_nodes() >= smallest || HoldsPin(region)) {
        regions_.emplace_back(&choice, std::move(region));
        continue;
      }
      for (const RegionUnit& unit : region.units) {
        for (const Node* node : unit.nodes) {
          taken_.erase(node);
          Refuse(choice, *node,
                 absl::StrCat("its region of ", region.num_nodes(),
                              " operators is smaller than ", smallest));
        }
      }
      graph_.Dissolve(region);
    }
    return absl::OkStatus();
  }

  // Marks what a target without regions takes, which is fused as the host's
  // operators are.
  absl::Status TakeNodes(const TargetChoice& choice) {
    for (const auto& node : function_->nodes()) {
      if (!MayTake(choice, node.get())) continue;
      const absl::Status supported = choice.kind->Takes(choice.target, *node);
      if (supported.ok()) {
        taken_.insert(node.get());
        node->attrs.Set("target", choice.target.Id());
        changed_ = true;
        continue;
      }
      INGOT_RETURN_IF_ERROR(FailureToAnswer(supported, choice, *node));
      if (pinned_.count(node.get()) > 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            Describe(*node), " is pinned to ", choice.target.ToString(),
            ", which does not take it: ", supported.message()));
      }
      Refuse(choice, *node, supported.message());
    }
    return absl::OkStatus();
  }

  bool HoldsPin(const Region& region) const {
    for (const RegionUnit& unit : region.units) {
      for (const Node* node : unit.nodes) {
        if (pinned_.count(node) > 0) return true;
      }
    }
    return false;
  }

  // Nodes in no region belong to the host, or to the target that they are
  // pinned to.
  absl::Status PlaceTheRest(size_t host) {
    const std::vector<TargetChoice>& targets = context_->targets;
    for (const auto& node : function_->nodes()) {
      if (!node->IsKernel() || taken_.count(node.get()) > 0) continue;
      node->attrs.Erase("target");
      auto pin = pinned_.find(node.get());
      if (pin == pinned_.end()) {
        if (host < targets.size()) continue;
        return absl::UnimplementedError(absl::StrCat(
            Describe(*node), " is taken by no target", WhyNot(*node),
            "; add one that takes every operator, ", "such as ',llvm'"));
      }
      const TargetChoice* choice = pin->second;
      if (!choice->kind->IsHost()) {
        // It comes after the host in the list.
        return absl::InvalidArgumentError(absl::StrCat(
            Describe(*node), " is pinned to ", choice->target.ToString(),
            ", which must stand before the target that takes every operator"));
      }
      if (choice == &targets[host]) continue;
      node->attrs.Set("target", choice->target.Id());
      changed_ = true;
    }
    return absl::OkStatus();
  }

  std::string WhyNot(const Node& node) const {
    std::string text;
    for (const std::string& source : node.sources) {
      auto it = context_->refusals.find(source);
      if (it == context_->refusals.end()) continue;
      for (const Refusal& refusal : it->second) {
        absl::StrAppend(&text, "; ", refusal.target, ": ", refusal.reason);
      }
    }
    return text;
  }

  Module* const module_;
  Function* const function_;
  PassContext* const context_;
  const std::map<const Node*, std::vector<Node*>> users_;
  RegionGraph graph_;
  std::map<const Node*, const TargetChoice*> pinned_;
  std::set<const Node*> taken_;
  std::vector<std::pair<const TargetChoice*, Region>> regions_;
  bool changed_ = false;
};

}  // namespace

absl::StatusOr<bool> Partition(Module* module, PassContext* context) {
  context->partitioned = true;
  if (context->targets.empty()) return false;
  std::vector<Function*> functions;
  for (const auto& function : module->functions()) {
    if (!IsFinished(*function)) functions.push_back(function.get());
  }
  bool changed = false;
  for (Function* function : functions) {
    if (TakesDequantized(*context)) {
      INGOT_ASSIGN_OR_RETURN(const bool unshared, UnshareDequantize(function));
      if (unshared) INGOT_RETURN_IF_ERROR(function->Sort());
      changed |= unshared;
    }
    INGOT_ASSIGN_OR_RETURN(bool now,
                           Partitioner(module, function, context).Run());
    changed |= now;
  }
  return changed;
}

}  // namespace ingot::relay
