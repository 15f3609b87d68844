#include "runtime/plan/text/parse_calls.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/lexer.h"

namespace ingot {

using text::Token;
using text::TokenKind;

absl::StatusOr<uint32_t> PlanCallsParser::ParseDevice() {
  INGOT_ASSIGN_OR_RETURN(const bool is_there, AcceptWord("on"));
  if (!is_there) return 0;
  const Token at = token_;
  INGOT_ASSIGN_OR_RETURN(const std::string key, ParseName("a target key"));
  const auto it = devices_.find(key);
  if (it != devices_.end()) return it->second;
  return ErrorAt(at, absl::StrCat("no device is for ", Shown(at)));
}

absl::StatusOr<std::string> PlanCallsParser::ParseSource() {
  INGOT_ASSIGN_OR_RETURN(const bool is_there, AcceptWord("from"));
  return is_there ? ExpectText(TokenKind::kString, "the model's nodes")
                  : absl::StatusOr<std::string>("");
}

absl::StatusOr<uint32_t> PlanCallsParser::ParseTensor(
    const PlanTextScope& scope) {
  const Token at = token_;
  INGOT_ASSIGN_OR_RETURN(const std::string name,
                         ExpectText(TokenKind::kPercentName, "a tensor"));
  const auto it = scope.tensors.find(name);
  if (it != scope.tensors.end()) return it->second;
  return ErrorAt(at, absl::StrCat("no tensor is named ", Shown(at)));
}

absl::Status PlanCallsParser::ParseCall(const PlanTextScope& scope) {
  PlanCall call;
  std::vector<uint32_t> results;
  while (token_.kind == TokenKind::kPercentName) {
    INGOT_ASSIGN_OR_RETURN(const uint32_t result, ParseTensor(scope));
    results.push_back(result);
    INGOT_ASSIGN_OR_RETURN(const bool more, Accept(","));
    if (!more) INGOT_RETURN_IF_ERROR(Expect("="));
    if (!more) break;
  }
  INGOT_RETURN_IF_ERROR(ParseStep(&call));
  INGOT_RETURN_IF_ERROR(Expect("("));
  INGOT_RETURN_IF_ERROR(List(")", [&]() -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(const uint32_t operand, ParseTensor(scope));
    call.add_args(operand);
    return absl::OkStatus();
  }));
  for (const uint32_t result : results) call.add_args(result);
  call.set_num_outputs(static_cast<uint32_t>(results.size()));
  if (token_.IsSymbol("{")) {
    INGOT_RETURN_IF_ERROR(ParseAttributes(&call));
  }
  INGOT_RETURN_IF_ERROR(ParseEffects(scope, &call));
  INGOT_ASSIGN_OR_RETURN(const uint32_t device, ParseDevice());
  call.set_device(device);
  INGOT_ASSIGN_OR_RETURN(const bool counts, AcceptWord("operations"));
  if (counts) {
    INGOT_ASSIGN_OR_RETURN(const uint64_t operations, ParseNumber());
    call.set_operations(operations);
  }
  INGOT_ASSIGN_OR_RETURN(*call.mutable_source(), ParseSource());
  *scope.plan->add_calls() = std::move(call);
  return absl::OkStatus();
}

// The words before the operands.
absl::Status PlanCallsParser::ParseStep(PlanCall* call) {
  if (token_.kind == TokenKind::kAtName) {
    call->set_function(token_.text);
    return Advance();
  }
  INGOT_ASSIGN_OR_RETURN(const std::string step,
                         ParseName("a call, such as %y = @f(%x)"));
  if (step == "if") {
    call->mutable_branch();
  } else if (step == "loop") {
    call->mutable_loop();
  } else if (step == "random_state") {
    call->mutable_random_state();
  } else if (step == "bind_dims") {
    call->mutable_bind_dims();
  } else if (step == "copy") {
    call->mutable_copy();
  } else {
    call->mutable_sequence()->set_op(step);
  }
  return absl::OkStatus();
}

absl::Status PlanCallsParser::ParseAttributes(PlanCall* call) {
  const Token at = token_;
  INGOT_RETURN_IF_ERROR(Expect("{"));
  return List("}", [&]() -> absl::Status {
    if (call->has_branch()) return ParseBranch(call->mutable_branch());
    if (call->has_loop()) return ParseLoop(call->mutable_loop());
    if (call->has_sequence()) {
      return ParseSequenceStep(call->mutable_sequence());
    }
    return ErrorAt(at, "a call of this kind has no attributes");
  });
}

// "=7".
absl::StatusOr<uint32_t> PlanCallsParser::ParseAttribute() {
  INGOT_RETURN_IF_ERROR(Advance());
  INGOT_RETURN_IF_ERROR(Expect("="));
  return ParseIndex();
}

absl::Status PlanCallsParser::ParseBranch(PlanBranch* branch) {
  const bool is_then = token_.IsWord("then");
  if (!is_then && !token_.IsWord("else")) return Unexpected("then or else");
  INGOT_ASSIGN_OR_RETURN(const uint32_t body, ParseAttribute());
  is_then ? branch->set_then_body(body) : branch->set_else_body(body);
  return absl::OkStatus();
}

absl::Status PlanCallsParser::ParseLoop(PlanLoop* loop) {
  if (token_.IsWord("body")) {
    INGOT_ASSIGN_OR_RETURN(const uint32_t body, ParseAttribute());
    loop->set_body(body);
  } else if (token_.IsWord("carried")) {
    INGOT_ASSIGN_OR_RETURN(const uint32_t carried, ParseAttribute());
    loop->set_carried(carried);
  } else if (token_.IsWord("max_iterations")) {
    loop->set_has_max_iterations(true);
    return Advance();
  } else if (token_.IsWord("condition")) {
    loop->set_has_condition(true);
    return Advance();
  } else {
    return Unexpected("body, carried, max_iterations or condition");
  }
  return absl::OkStatus();
}

absl::Status PlanCallsParser::ParseSequenceStep(PlanSequenceStep* step) {
  if (token_.IsWord("flag")) {
    step->set_flag(true);
    return Advance();
  }
  INGOT_RETURN_IF_ERROR(ExpectWord("axis"));
  INGOT_RETURN_IF_ERROR(Expect("="));
  INGOT_ASSIGN_OR_RETURN(const int64_t axis, ParseInt());
  step->set_axis(axis);
  return absl::OkStatus();
}

absl::Status PlanCallsParser::ParseEffects(const PlanTextScope& scope,
                                           PlanCall* call) {
  INGOT_ASSIGN_OR_RETURN(bool more, AcceptWord("binds"));
  while (more) {
    INGOT_RETURN_IF_ERROR(ParseBind(scope, call));
    INGOT_ASSIGN_OR_RETURN(more, Accept(","));
  }
  INGOT_ASSIGN_OR_RETURN(more, AcceptWord("in_place"));
  while (more) {
    INGOT_RETURN_IF_ERROR(ParseInPlace(call));
    INGOT_ASSIGN_OR_RETURN(more, Accept(","));
  }
  return absl::OkStatus();
}

// "N = element 0" or "N = dimension 0 of result 1".
absl::Status PlanCallsParser::ParseBind(const PlanTextScope& scope,
                                        PlanCall* call) {
  PlanBind bind;
  INGOT_ASSIGN_OR_RETURN(const uint32_t symbol, ParseSymbol(scope.symbols));
  bind.set_symbol(symbol);
  INGOT_RETURN_IF_ERROR(Expect("="));
  INGOT_RETURN_IF_ERROR(
      ExpectWord(call->has_bind_dims() ? "element" : "dimension"));
  INGOT_ASSIGN_OR_RETURN(const uint32_t index, ParseIndex());
  bind.set_index(index);
  if (!call->has_bind_dims()) {
    INGOT_RETURN_IF_ERROR(ExpectWord("of"));
    INGOT_RETURN_IF_ERROR(ExpectWord("result"));
    INGOT_ASSIGN_OR_RETURN(const uint32_t result, ParseIndex());
    bind.set_output(result);
  }
  *call->add_binds() = bind;
  return absl::OkStatus();
}

// "result 0 = operand 1".
absl::Status PlanCallsParser::ParseInPlace(PlanCall* call) {
  PlanInPlace pair;
  INGOT_RETURN_IF_ERROR(ExpectWord("result"));
  INGOT_ASSIGN_OR_RETURN(const uint32_t result, ParseIndex());
  INGOT_RETURN_IF_ERROR(Expect("="));
  INGOT_RETURN_IF_ERROR(ExpectWord("operand"));
  INGOT_ASSIGN_OR_RETURN(const uint32_t operand, ParseIndex());
  pair.set_result(result);
  pair.set_operand(operand);
  *call->add_in_place() = pair;
  return absl::OkStatus();
}

}  // namespace ingot
