#ifndef INGOT_RUNTIME_PLAN_VIEWS_H_
#define INGOT_RUNTIME_PLAN_VIEWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/plan/plan.pb.h"

namespace ingot {

// The tensor in whose place a view or a part is; nothing for other tensors.
std::optional<uint32_t> ViewedBy(const PlanTensor& tensor);

// The root of each tensor of a plan: the tensor whose place it is in, found
// through its views and what it is a part of; for what is neither, the tensor
// itself. Each view and part must come after what it is one of.
std::vector<uint32_t> RootsOf(const Plan& plan);

// The same of one tensor.
uint32_t RootOf(const Plan& plan, uint32_t tensor);

// Where each tensor begins in its root, in bytes: 0 but for parts and what is
// in them.
std::vector<uint64_t> OffsetsInRoots(const Plan& plan);

// Whether a tensor is a part, or a view of one.
bool IsInPart(const Plan& plan, uint32_t tensor);

// Where a root lies, an index into the devices of the plan. Its storage must be
// there.
uint32_t DeviceOf(const Plan& plan, const PlanTensor& root);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_VIEWS_H_
