// The calls of a plan's text. Private to this folder; plan_parser.h is the
// interface.
#ifndef INGOT_RUNTIME_PLAN_TEXT_PARSE_CALLS_H_
#define INGOT_RUNTIME_PLAN_TEXT_PARSE_CALLS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/plan/text/parse_parts.h"

namespace ingot {

// A plan or body that is being read, and what its names stand for.
struct PlanTextScope {
  Plan* plan;
  std::string path;  // "body 0: ", as errors of CheckPlan begin
  absl::flat_hash_map<std::string, uint32_t> symbols, inputs, states, tensors;
};

class PlanCallsParser : protected PlanPartsParser {
 protected:
  using PlanPartsParser::PlanPartsParser;

  // " on gpu", when there is one; the first device otherwise.
  absl::StatusOr<uint32_t> ParseDevice();
  // " from "…"", when there is one.
  absl::StatusOr<std::string> ParseSource();

  // %name of a tensor that is declared.
  absl::StatusOr<uint32_t> ParseTensor(const PlanTextScope& scope);

  // `%y = @f(%x) …`, added to the plan.
  absl::Status ParseCall(const PlanTextScope& scope);

  absl::flat_hash_map<std::string, uint32_t> devices_;  // by target key

 private:
  absl::Status ParseStep(PlanCall* call);
  absl::Status ParseAttributes(PlanCall* call);
  absl::Status ParseBranch(PlanBranch* branch);
  absl::Status ParseLoop(PlanLoop* loop);
  absl::Status ParseSequenceStep(PlanSequenceStep* step);
  absl::StatusOr<uint32_t> ParseAttribute();
  absl::Status ParseEffects(const PlanTextScope& scope, PlanCall* call);
  absl::Status ParseBind(const PlanTextScope& scope, PlanCall* call);
  absl::Status ParseInPlace(PlanCall* call);
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_TEXT_PARSE_CALLS_H_
