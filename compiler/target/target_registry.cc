#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/closest_names.h"
#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/target/target.h"

namespace ingot {
namespace {

// The options of a kind, or the one that was meant by `name`.
std::string Known(const std::map<std::string, TargetOption>& options,
                  absl::string_view name) {
  if (options.empty()) return "it has no options";
  std::vector<std::string> known;
  for (const auto& [option, unused] : options) known.push_back("-" + option);
  const std::string hint = DidYouMean(absl::StrCat("-", name), known);
  return hint.empty() ? absl::StrCat("it has ", absl::StrJoin(known, ", "))
                      : hint;
}

// "add, sub and mul".
std::string Enumerate(const std::vector<std::string>& names) {
  const std::string head = absl::StrJoin(names.begin(), names.end() - 1, ", ");
  return absl::StrCat(head, head.empty() ? "" : " and ", names.back());
}

// `targets` as --target has them.
std::string ListOf(absl::Span<const Target* const> targets) {
  return absl::StrJoin(targets, ",", [](std::string* out, const Target* t) {
    absl::StrAppend(out, t->ToString());
  });
}

// Slips that would leave a kind with less than its author thinks, or with more.
absl::Status CheckOperators(const TargetKind& kind) {
  if (kind.IsHost() && (kind.operators.has_value() || !kind.patterns.empty())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "target kind ", kind.name,
        " says which operators it takes, but has neither of the hooks "
        "relay_to_runtime and relay_to_tir, which generate code for them"));
  }
  if (!kind.operators.has_value()) {
    if (kind.patterns.empty() || kind.supports != nullptr) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "target kind ", kind.name,
        " has composites, but neither a list of operators nor the hook "
        "supports, and so would take every operator; an empty list, by "
        "operators.emplace(), is for composites alone"));
  }
  for (const std::string& op : *kind.operators) {
    if (relay::StandardOps().Find(op) != nullptr) continue;
    std::vector<std::string> known;
    for (const relay::OpDef* def : relay::StandardOps().All()) {
      known.push_back(def->name);
    }
    const std::string hint = DidYouMean(op, known);
    return absl::InvalidArgumentError(absl::StrCat(
        "target kind ", kind.name, " takes '", absl::CHexEscape(op),
        "', which is no operator of relay", hint.empty() ? "" : "; ", hint));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MachineModel> TargetKind::MachineOf(const Target& target) const {
  if (machine == nullptr) return MachineModel();
  return machine(target);
}

absl::StatusOr<LayoutPreferences> TargetKind::LayoutsOf(
    const Target& target) const {
  if (layouts == nullptr) return LayoutPreferences();
  INGOT_ASSIGN_OR_RETURN(MachineModel model, MachineOf(target));
  return layouts(model);
}

absl::Status TargetKind::Takes(const Target& target,
                               const relay::Node& node) const {
  // More names than these are a list that is better looked up.
  constexpr size_t kMostNamed = 6;
  if (operators.has_value() &&
      std::none_of(operators->begin(), operators->end(),
                   [&](const std::string& op) { return node.Is(op); })) {
    return absl::UnimplementedError(
        operators->empty() ? "only composites"
        : operators->size() <= kMostNamed
            ? absl::StrCat("only ", Enumerate(*operators))
            : absl::StrCat("it does not take ", node.op->name));
  }
  return supports == nullptr ? absl::OkStatus() : supports(target, node);
}

absl::Status TargetRegistry::Register(TargetKind kind) {
  if (kind.name.empty()) {
    return absl::InvalidArgumentError("a target kind without a name");
  }
  INGOT_RETURN_IF_ERROR(CheckOperators(kind));
  if (kind.HasRegions()) {
    kind.options.emplace(
        kMinRegionOption,
        TargetOption{"the fewest operators that make a region of their own",
                     absl::StrCat(kind.min_region)});
  }
  const std::string name = kind.name;
  if (!kinds_.emplace(name, std::move(kind)).second) {
    return absl::AlreadyExistsError(
        absl::StrCat("target kind ", name, " is registered twice"));
  }
  return absl::OkStatus();
}

absl::StatusOr<const TargetKind*> TargetRegistry::Find(
    absl::string_view kind) const {
  auto it = kinds_.find(std::string(kind));
  if (it != kinds_.end()) return &it->second;
  std::vector<std::string> known;
  for (const auto& [name, unused] : kinds_) known.push_back(name);
  const std::string hint = DidYouMean(kind, known);
  return absl::NotFoundError(absl::StrCat(
      "no target kind \"", absl::CHexEscape(kind), "\" is built in; ", hint,
      hint.empty() ? "" : " ",
      "known: ", known.empty() ? "none" : absl::StrJoin(known, ", ")));
}

std::vector<const TargetKind*> TargetRegistry::All() const {
  std::vector<const TargetKind*> all;
  for (const auto& [name, kind] : kinds_) all.push_back(&kind);
  return all;
}

absl::StatusOr<const TargetKind*> TargetRegistry::Check(
    const Target& target) const {
  INGOT_ASSIGN_OR_RETURN(const TargetKind* kind, Find(target.kind));
  for (const auto& [name, value] : target.options) {
    if (kind->options.count(name) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("target kind ", target.kind, " has no option -", name,
                       "; ", Known(kind->options, name)));
    }
    if (name == kMinRegionOption && kind->HasRegions()) {
      int operators;
      if (absl::SimpleAtoi(value, &operators) && operators >= 1) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("target ", target.ToString(), ": -", name,
                       " wants a number of operators, 1 or more"));
    }
  }
  if (kind->check != nullptr) {
    INGOT_RETURN_IF_ERROR(kind->check(target));
  }
  return kind;
}

absl::Status TargetRegistry::CheckList(absl::Span<const Target> targets) const {
  if (targets.empty()) return absl::InvalidArgumentError("no target was given");
  std::vector<const Target*> regional, takers;
  for (const Target& target : targets) {
    INGOT_ASSIGN_OR_RETURN(const TargetKind* kind, Check(target));
    for (const Target& other : targets.first(&target - targets.data())) {
      if (other.Id() != target.Id()) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "two targets are called '", target.Id(),
          "'; give one a key of its own, as in 'small: ", target.kind, "'"));
    }
    (kind->IsHost() ? takers : regional).push_back(&target);
  }
  for (const Target* target : regional) {
    if (takers.empty() || target < takers[0]) continue;
    std::vector<const Target*> order = regional;
    order.insert(order.end(), takers.begin(), takers.end());
    return absl::InvalidArgumentError(
        absl::StrCat(target->Id(), " is never asked, because ", takers[0]->Id(),
                     " in front of it takes every operator; write --target=",
                     ListOf(order)));
  }
  return absl::OkStatus();
}

}  // namespace ingot
