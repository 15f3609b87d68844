#include "runtime/plan/text/plan_parser.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "base/text/lexer.h"
#include "runtime/plan/check.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/text/parse_calls.h"
#include "runtime/plan/types.h"

namespace ingot {
namespace {

using text::Token;
using text::TokenKind;

class PlanParser : private PlanCallsParser {
 public:
  explicit PlanParser(absl::string_view text) : PlanCallsParser(text) {}

  absl::StatusOr<Plan> Parse() {
    Plan plan;
    INGOT_RETURN_IF_ERROR(Advance());
    const Token at = token_;
    INGOT_RETURN_IF_ERROR(ExpectWord("plan"));
    INGOT_ASSIGN_OR_RETURN(*plan.mutable_entry(),
                           ExpectText(TokenKind::kString, "the model's name"));
    INGOT_RETURN_IF_ERROR(ExpectWord("version"));
    INGOT_ASSIGN_OR_RETURN(const uint32_t version, ParseIndex());
    plan.set_version(version);
    INGOT_RETURN_IF_ERROR(Expect("{"));
    INGOT_RETURN_IF_ERROR(ParseDevices(&plan));
    INGOT_RETURN_IF_ERROR(ParseRest({&plan, "", {}, {}, {}, {}}));
    if (token_.kind != TokenKind::kEnd) return Unexpected("the end");
    const absl::Status status = CheckPlan(plan);
    if (!status.ok()) return AtElement(status, at);
    return plan;
  }

 private:
  // `title { item … }`, which is left out where it would be empty.
  template <typename F>
  absl::Status Section(absl::string_view title, const F& item) {
    INGOT_ASSIGN_OR_RETURN(const bool is_there, AcceptWord(title));
    if (!is_there) return absl::OkStatus();
    INGOT_RETURN_IF_ERROR(Expect("{"));
    while (!token_.IsSymbol("}")) INGOT_RETURN_IF_ERROR(item());
    return Advance();
  }

  // Keeps the place of what CheckPlan would call by this name.
  void Remember(const PlanTextScope& scope, absl::string_view element) {
    places_.emplace_back(absl::StrCat(scope.path, element), token_);
  }

  // The error of CheckPlan with the place of what it begins with, or `at`.
  absl::Status AtElement(const absl::Status& status, const Token& at) const {
    const std::string message =
        absl::StrReplaceAll(status.message(), {{"plan: ", ""}});
    const Token* found = &at;
    for (const auto& [element, place] : places_) {
      if (absl::StartsWith(message, element) &&
          (message.size() == element.size() ||
           !absl::ascii_isalnum(message[element.size()]))) {
        found = &place;
      }
    }
    return absl::Status(status.code(), ErrorAt(*found, message).message());
  }

  absl::Status ParseDevices(Plan* plan) {
    return Section("devices", [&]() -> absl::Status {
      PlanDevice* device = plan->add_devices();
      INGOT_ASSIGN_OR_RETURN(*device->mutable_kind(),
                             ParseName("a kind of device"));
      INGOT_ASSIGN_OR_RETURN(const bool is_for, AcceptWord("for"));
      if (!is_for) return absl::OkStatus();
      INGOT_ASSIGN_OR_RETURN(*device->mutable_target_key(),
                             ParseName("a target key"));
      devices_.emplace(device->target_key(), plan->devices_size() - 1);
      while (true) {
        INGOT_ASSIGN_OR_RETURN(const bool is_more, Accept(","));
        if (!is_more) return absl::OkStatus();
        INGOT_ASSIGN_OR_RETURN(*device->add_shared_by(),
                               ParseName("a target key"));
      }
    });
  }

  // Everything up to the brace that closes the plan or the body.
  absl::Status ParseRest(PlanTextScope scope) {
    std::vector<Token> inputs, outputs, states;
    INGOT_RETURN_IF_ERROR(
        Section("symbols", [&] { return ParseSymbolLine(&scope); }));
    INGOT_RETURN_IF_ERROR(Section("inputs", [&] { return KeepName(&inputs); }));
    for (const Token& input : inputs) {
      scope.inputs.emplace(input.text, scope.inputs.size());
    }
    INGOT_RETURN_IF_ERROR(
        Section("outputs", [&] { return KeepName(&outputs); }));
    INGOT_RETURN_IF_ERROR(ParseStates(&states, &scope));
    INGOT_RETURN_IF_ERROR(
        Section("storage", [&] { return ParseStorageLine(scope); }));
    PlanTypeList types(scope.plan);
    INGOT_RETURN_IF_ERROR(
        Section("tensors", [&] { return ParseTensorLine(&scope, &types); }));
    INGOT_RETURN_IF_ERROR(Resolve(inputs, scope, scope.plan->mutable_inputs()));
    INGOT_RETURN_IF_ERROR(
        Resolve(outputs, scope, scope.plan->mutable_outputs()));
    INGOT_RETURN_IF_ERROR(Resolve(states, scope, scope.plan->mutable_states()));
    if (!token_.IsWord("calls")) return Unexpected("calls");
    INGOT_RETURN_IF_ERROR(Section("calls", [&]() -> absl::Status {
      Remember(scope, absl::StrCat("call ", scope.plan->calls_size()));
      return ParseCall(scope);
    }));
    INGOT_RETURN_IF_ERROR(
        Section("requirements", [&] { return ParseRequirement(scope); }));
    while (token_.IsWord("body")) INGOT_RETURN_IF_ERROR(ParseBody(scope));
    AssignPhases(scope.plan);
    return Expect("}");
  }

  absl::Status ParseSymbolLine(PlanTextScope* scope) {
    const Token at = token_;
    PlanSymbol* symbol = scope->plan->add_symbols();
    Remember(*scope, absl::StrCat("symbol '", at.text, "'"));
    INGOT_ASSIGN_OR_RETURN(*symbol->mutable_name(), ParseName("a symbol"));
    if (!scope->symbols.emplace(symbol->name(), scope->plan->symbols_size() - 1)
             .second) {
      return ErrorAt(at, absl::StrCat("two symbols are named ", Shown(at)));
    }
    INGOT_ASSIGN_OR_RETURN(const bool has_value, Accept("="));
    if (has_value) {
      INGOT_ASSIGN_OR_RETURN(*symbol->mutable_value(),
                             ParseDim(scope->symbols));
    }
    INGOT_ASSIGN_OR_RETURN(const bool is_bound, AcceptWord("at"));
    if (!is_bound) return absl::OkStatus();
    INGOT_RETURN_IF_ERROR(ExpectWord("least"));
    INGOT_ASSIGN_OR_RETURN(const int64_t least, ParseInt());
    symbol->set_lower_bound(least);
    return absl::OkStatus();
  }

  // Tensors are declared after the inputs, outputs and states that name them.
  absl::Status KeepName(std::vector<Token>* names) {
    if (token_.kind != TokenKind::kPercentName) return Unexpected("a tensor");
    names->push_back(token_);
    return Advance();
  }

  // Gives so many states' results names, which are empty for now.
  static void NameResults(size_t count, Plan* plan) {
    while (plan->state_results_size() < static_cast<int>(count)) {
      plan->add_state_results();
    }
  }

  absl::Status ParseStates(std::vector<Token>* states, PlanTextScope* scope) {
    INGOT_RETURN_IF_ERROR(Section("states", [&]() -> absl::Status {
      scope->states.emplace(token_.text, states->size());
      INGOT_RETURN_IF_ERROR(KeepName(states));
      INGOT_ASSIGN_OR_RETURN(const bool is_named, AcceptWord("becomes"));
      if (!is_named) return absl::OkStatus();
      NameResults(states->size(), scope->plan);
      INGOT_ASSIGN_OR_RETURN(
          *scope->plan->mutable_state_results()->rbegin(),
          ExpectText(TokenKind::kPercentName, "the state's next value"));
      return absl::OkStatus();
    }));
    const bool are_named = scope->plan->state_results_size() > 0;
    NameResults(are_named ? states->size() : 0, scope->plan);
    return absl::OkStatus();
  }

  absl::Status Resolve(
      const std::vector<Token>& names, const PlanTextScope& scope,
      google::protobuf::RepeatedField<google::protobuf::uint32>* ids) const {
    for (const Token& name : names) {
      const auto it = scope.tensors.find(name.text);
      if (it == scope.tensors.end()) {
        return ErrorAt(name, absl::StrCat("no tensor is named ", Shown(name)));
      }
      ids->Add(it->second);
    }
    return absl::OkStatus();
  }

  absl::Status ParseTensorLine(PlanTextScope* scope, PlanTypeList* types) {
    const Token at = token_;
    Remember(*scope, absl::StrCat("tensor '", at.text, "'"));
    INGOT_ASSIGN_OR_RETURN(const std::string name,
                           ExpectText(TokenKind::kPercentName, "a tensor"));
    INGOT_RETURN_IF_ERROR(Expect(":"));
    PlanTensor tensor;
    tensor.set_name(name);
    PlanType type;
    INGOT_RETURN_IF_ERROR(ParseType(scope->symbols, &tensor, &type));
    tensor.set_type(types->Add(type));
    INGOT_RETURN_IF_ERROR(ParsePlace(*scope, &tensor));
    if (!scope->tensors.emplace(name, scope->plan->tensors_size()).second) {
      return ErrorAt(at, absl::StrCat("two tensors are named ", Shown(at)));
    }
    *scope->plan->add_tensors() = std::move(tensor);
    return absl::OkStatus();
  }

  absl::Status ParsePlace(const PlanTextScope& scope, PlanTensor* tensor) {
    if (token_.IsWord("input")) {
      const auto it = scope.inputs.find(tensor->name());
      if (it == scope.inputs.end()) return Error("it is not among the inputs");
      tensor->set_input(it->second);
      return Advance();
    }
    if (token_.IsWord("state")) {
      const auto it = scope.states.find(tensor->name());
      if (it == scope.states.end()) return Error("it is not among the states");
      tensor->set_state(it->second);
      return Advance();
    }
    if (token_.IsWord("held")) return Advance();
    if (token_.IsWord("constant")) {
      INGOT_RETURN_IF_ERROR(Advance());
      INGOT_ASSIGN_OR_RETURN(*tensor->mutable_constant(),
                             ExpectText(TokenKind::kString, "a key"));
      INGOT_ASSIGN_OR_RETURN(const uint32_t device, ParseDevice());
      tensor->set_device(device);
      return absl::OkStatus();
    }
    if (token_.IsWord("view")) {
      INGOT_RETURN_IF_ERROR(Advance());
      INGOT_RETURN_IF_ERROR(ExpectWord("of"));
      INGOT_ASSIGN_OR_RETURN(const uint32_t viewed, ParseTensor(scope));
      tensor->set_view_of(viewed);
      return absl::OkStatus();
    }
    if (token_.IsWord("part")) {
      INGOT_RETURN_IF_ERROR(Advance());
      INGOT_RETURN_IF_ERROR(ExpectWord("of"));
      INGOT_ASSIGN_OR_RETURN(const uint32_t whole, ParseTensor(scope));
      tensor->set_part_of(whole);
      return ParseOffset(tensor);
    }
    if (!token_.IsWord("storage")) {
      return Unexpected("input, state, constant, storage, view, part or held");
    }
    INGOT_RETURN_IF_ERROR(Advance());
    const Token at = token_;
    INGOT_ASSIGN_OR_RETURN(const uint32_t storage, ParseIndex());
    const int known = scope.plan->storage_size();
    if (storage >= static_cast<uint32_t>(known)) {
      return ErrorAt(at, absl::StrCat("there are ", known, " storages"));
    }
    tensor->set_storage(storage);
    return ParseOffset(tensor);
  }

  absl::Status ParseOffset(PlanTensor* tensor) {
    INGOT_RETURN_IF_ERROR(ExpectWord("at"));
    INGOT_ASSIGN_OR_RETURN(const uint64_t offset, ParseNumber());
    tensor->set_offset(offset);
    return absl::OkStatus();
  }

  absl::Status ParseStorageLine(const PlanTextScope& scope) {
    const int next = scope.plan->storage_size();
    Remember(scope, absl::StrCat("storage ", next));
    if (token_.kind == TokenKind::kInt && token_.text != absl::StrCat(next)) {
      return Unexpected(absl::StrCat("storage ", next));
    }
    INGOT_RETURN_IF_ERROR(ParseIndex().status());
    INGOT_RETURN_IF_ERROR(Expect(":"));
    PlanStorage* storage = scope.plan->add_storage();
    INGOT_RETURN_IF_ERROR(ParseDims(scope.symbols, storage->mutable_bytes()));
    INGOT_ASSIGN_OR_RETURN(const uint32_t device, ParseDevice());
    storage->set_device(device);
    return absl::OkStatus();
  }

  absl::Status ParseRequirement(const PlanTextScope& scope) {
    PlanRequirement* requirement = scope.plan->add_requirements();
    INGOT_ASSIGN_OR_RETURN(*requirement->mutable_left(),
                           ParseDim(scope.symbols));
    INGOT_RETURN_IF_ERROR(Expect("="));
    INGOT_ASSIGN_OR_RETURN(*requirement->mutable_right(),
                           ParseDim(scope.symbols));
    INGOT_ASSIGN_OR_RETURN(const bool or_one, AcceptWord("or"));
    if (or_one) {
      INGOT_RETURN_IF_ERROR(ExpectWord("one"));
    }
    requirement->set_or_one(or_one);
    INGOT_ASSIGN_OR_RETURN(*requirement->mutable_source(), ParseSource());
    return absl::OkStatus();
  }

  absl::Status ParseBody(const PlanTextScope& scope) {
    INGOT_RETURN_IF_ERROR(Enter());
    INGOT_RETURN_IF_ERROR(ExpectWord("body"));
    Plan* body = scope.plan->add_bodies();
    const std::string path =
        absl::StrCat(scope.path, "body ", scope.plan->bodies_size() - 1, ": ");
    INGOT_ASSIGN_OR_RETURN(*body->mutable_entry(),
                           ExpectText(TokenKind::kString, "the body's name"));
    INGOT_RETURN_IF_ERROR(Expect("{"));
    INGOT_RETURN_IF_ERROR(ParseRest({body, path, {}, {}, {}, {}}));
    Leave();
    return absl::OkStatus();
  }

  std::vector<std::pair<std::string, Token>> places_;
};

}  // namespace

absl::StatusOr<Plan> ParsePlan(absl::string_view text) {
  return PlanParser(text).Parse();
}

}  // namespace ingot
