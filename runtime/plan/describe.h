// The parts of a plan in words, for people. The plan may come from anywhere:
// indices that are out of range show as they are.
#ifndef INGOT_RUNTIME_PLAN_DESCRIBE_H_
#define INGOT_RUNTIME_PLAN_DESCRIBE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// "f32[N, 3]", or "sequence<f32>", with the names of symbols.
std::string TypeToString(const Plan& plan, const PlanTensor& tensor,
                         absl::Span<const std::string> symbols);

// A function's name; "if", "loop", "random_state", "bind_dims", "copy" or the
// name of an operator on sequences; "nothing" for a call that does not say.
std::string StepToString(const PlanCall& call);

// Adds, for each function that the plan and its bodies call, the nodes of the
// model that it computes, one after the other.
void AddNodesOfFunctions(const Plan& plan,
                         std::map<std::string, std::string>* nodes);

// The bytes of a tensor, or the most that a storage needs; none where a symbol
// decides, or where they do not fit 63 bits.
std::optional<int64_t> KnownBytes(const Plan& plan, const PlanTensor& tensor);
std::optional<int64_t> KnownBytes(const PlanStorage& storage);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_DESCRIBE_H_
