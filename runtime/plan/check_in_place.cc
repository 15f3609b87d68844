#include "runtime/plan/check_in_place.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/plan/check.h"
#include "runtime/plan/types.h"
#include "runtime/plan/views.h"

namespace ingot {
namespace {

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Whether a step of the call's kind can put a result in an operand's place.
bool MayPair(const PlanCall& call, const PlanInPlace& pair,
             bool are_sequences) {
  switch (call.step_case()) {
    case PlanCall::kLoop: {
      // A carried value that the loop begins with, and the one it ends with.
      const uint32_t first = (call.loop().has_max_iterations() ? 1 : 0) +
                             (call.loop().has_condition() ? 1 : 0);
      return pair.result() < call.loop().carried() &&
             pair.operand() == first + pair.result();
    }
    case PlanCall::kBranch:
      return are_sequences && pair.operand() > 0;
    case PlanCall::kSequence:
      return are_sequences && pair.operand() == 0;
    default:
      return false;
  }
}

absl::Status CheckPair(const Plan& plan, const PlanCall& call,
                       const PlanInPlace& pair, bool is_body) {
  const auto reads =
      static_cast<uint32_t>(call.args_size()) - call.num_outputs();
  if (pair.operand() >= reads || pair.result() >= call.num_outputs()) {
    return Bad("it puts result ", pair.result(), " of ", call.num_outputs(),
               " in the place of operand ", pair.operand(), " of ", reads);
  }
  const uint32_t operand = call.args(static_cast<int>(pair.operand()));
  const PlanTensor& from = plan.tensors(static_cast<int>(operand));
  const PlanTensor& to = plan.tensors(
      static_cast<int>(call.args(static_cast<int>(reads + pair.result()))));
  if (from.is_sequence() != to.is_sequence() ||
      CheckedDataType(PlanTypeOf(plan, from).dtype()) !=
          CheckedDataType(PlanTypeOf(plan, to).dtype()) ||
      !MayPair(call, pair, from.is_sequence())) {
    return Bad("it cannot put '", to.name(), "' in the place of '", from.name(),
               "'");
  }
  const uint32_t root = RootOf(plan, operand);
  if (from.is_sequence()) {
    if (from.has_input() && !is_body) {
      return Bad("it puts '", to.name(), "' in the place of the input '",
                 from.name(), "'");
    }
  } else {
    const PlanTensor& place = plan.tensors(static_cast<int>(root));
    if (IsInPart(plan, operand) || !place.has_storage() || !to.has_storage() ||
        place.storage() != to.storage() || place.offset() != to.offset()) {
      return Bad("'", to.name(), "' is not in the place of '", from.name(),
                 "'");
    }
  }
  int uses = 0;
  for (uint32_t k = 0; k < reads; ++k) {
    uses += RootOf(plan, call.args(static_cast<int>(k))) == root ? 1 : 0;
  }
  if (uses == 1) return absl::OkStatus();
  return Bad("it reads '", from.name(), "' twice and updates it in place");
}

}  // namespace

absl::Status CheckInPlace(const Plan& plan, const PlanCall& call,
                          bool is_body) {
  std::vector<bool> results(call.num_outputs(), false);
  std::vector<bool> operands(call.args_size(), false);
  for (const PlanInPlace& pair : call.in_place()) {
    INGOT_RETURN_IF_ERROR(CheckPair(plan, call, pair, is_body));
    if (results[pair.result()] || operands[pair.operand()]) {
      return Bad("result ", pair.result(), " or operand ", pair.operand(),
                 " is in two updates in place");
    }
    results[pair.result()] = operands[pair.operand()] = true;
  }
  return absl::OkStatus();
}

bool IsUpdatedInPlace(const Plan& plan, uint32_t tensor) {
  for (const PlanCall& call : plan.calls()) {
    for (const PlanInPlace& pair : call.in_place()) {
      const uint32_t operand = call.args(static_cast<int>(pair.operand()));
      if (RootOf(plan, operand) == tensor) return true;
    }
  }
  return false;
}

}  // namespace ingot
