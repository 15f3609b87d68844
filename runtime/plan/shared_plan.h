#ifndef INGOT_RUNTIME_PLAN_SHARED_PLAN_H_
#define INGOT_RUNTIME_PLAN_SHARED_PLAN_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// A plan that all who run it share and nobody changes.
using SharedPlan = std::shared_ptr<const Plan>;

SharedPlan SharePlan(Plan plan);

// Reads a plan, which may come from anywhere and still needs CheckPlan, from
// the bytes of its message. Its parts lie side by side in a few blocks of
// memory, which makes reading and freeing it cheap. InvalidArgument for bytes
// that are no plan.
absl::StatusOr<SharedPlan> ReadPlan(absl::string_view bytes);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_SHARED_PLAN_H_
