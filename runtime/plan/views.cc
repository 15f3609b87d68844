#include "runtime/plan/views.h"

namespace ingot {

std::vector<uint32_t> RootsOf(const Plan& plan) {
  std::vector<uint32_t> roots;
  roots.reserve(plan.tensors_size());
  for (const PlanTensor& tensor : plan.tensors()) {
    roots.push_back(tensor.has_view_of() ? roots[tensor.view_of()]
                                         : static_cast<uint32_t>(roots.size()));
  }
  return roots;
}

uint32_t RootOf(const Plan& plan, uint32_t tensor) {
  while (plan.tensors(static_cast<int>(tensor)).has_view_of()) {
    tensor = plan.tensors(static_cast<int>(tensor)).view_of();
  }
  return tensor;
}

uint32_t DeviceOf(const Plan& plan, const PlanTensor& root) {
  if (!root.has_storage()) return root.device();
  return plan.storage(static_cast<int>(root.storage())).device();
}

}  // namespace ingot
