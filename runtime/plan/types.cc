#include "runtime/plan/types.h"

namespace ingot {

uint32_t PlanTypeList::Add(const PlanType& type) {
  const auto next = static_cast<uint32_t>(plan_->types_size());
  const auto [known, is_new] = known_.emplace(type.SerializeAsString(), next);
  if (is_new) *plan_->add_types() = type;
  return known->second;
}

}  // namespace ingot
