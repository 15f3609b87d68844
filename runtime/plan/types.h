// The types of a plan's tensors.
#ifndef INGOT_RUNTIME_PLAN_TYPES_H_
#define INGOT_RUNTIME_PLAN_TYPES_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// The type of a tensor. One that does not exist, in a plan that CheckPlan has
// not seen, has no elements' type and no dimensions.
inline const PlanType& PlanTypeOf(const Plan& plan, const PlanTensor& tensor) {
  return tensor.type() < static_cast<uint32_t>(plan.types_size())
             ? plan.types(static_cast<int>(tensor.type()))
             : PlanType::default_instance();
}

// The same of the tensor with an index, which must be there.
inline const PlanType& PlanTypeOf(const Plan& plan, uint32_t tensor) {
  return PlanTypeOf(plan, plan.tensors(static_cast<int>(tensor)));
}

// Lists types in a plan that is being made, each once.
class PlanTypeList {
 public:
  // `plan` outlives it.
  explicit PlanTypeList(Plan* plan) : plan_(plan) {}

  // The index of the type in the plan.
  uint32_t Add(const PlanType& type);

 private:
  Plan* plan_;
  absl::flat_hash_map<std::string, uint32_t> known_;  // by their bytes
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_TYPES_H_
