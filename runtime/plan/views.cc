#include "runtime/plan/views.h"

namespace ingot {

std::optional<uint32_t> ViewedBy(const PlanTensor& tensor) {
  if (tensor.has_view_of()) return tensor.view_of();
  if (tensor.has_part_of()) return tensor.part_of();
  return std::nullopt;
}

std::vector<uint32_t> RootsOf(const Plan& plan) {
  std::vector<uint32_t> roots;
  roots.reserve(plan.tensors_size());
  for (const PlanTensor& tensor : plan.tensors()) {
    const std::optional<uint32_t> viewed = ViewedBy(tensor);
    roots.push_back(viewed ? roots[*viewed]
                           : static_cast<uint32_t>(roots.size()));
  }
  return roots;
}

uint32_t RootOf(const Plan& plan, uint32_t tensor) {
  while (const std::optional<uint32_t> viewed =
             ViewedBy(plan.tensors(static_cast<int>(tensor)))) {
    tensor = *viewed;
  }
  return tensor;
}

std::vector<uint64_t> OffsetsInRoots(const Plan& plan) {
  std::vector<uint64_t> offsets;
  offsets.reserve(plan.tensors_size());
  for (const PlanTensor& tensor : plan.tensors()) {
    const std::optional<uint32_t> viewed = ViewedBy(tensor);
    offsets.push_back(viewed ? offsets[*viewed] + tensor.offset() : 0);
  }
  return offsets;
}

bool IsInPart(const Plan& plan, uint32_t tensor) {
  for (;;) {
    const PlanTensor& at = plan.tensors(static_cast<int>(tensor));
    if (at.has_part_of()) return true;
    if (!at.has_view_of()) return false;
    tensor = at.view_of();
  }
}

uint32_t DeviceOf(const Plan& plan, const PlanTensor& root) {
  if (!root.has_storage()) return root.device();
  return plan.storage(static_cast<int>(root.storage())).device();
}

}  // namespace ingot
