#ifndef INGOT_RUNTIME_PLAN_TEXT_PLAN_PRINTER_H_
#define INGOT_RUNTIME_PLAN_TEXT_PLAN_PRINTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// A plan as text that a person reads and edits, and that ParsePlan reads back:
// of a plan that passes CheckPlan (check.h), into an equal one, but that each
// of its phases is as early as it can be (phases.h). docs/artifact_format.md
// describes it. Comments say what follows from the rest: the numbers of calls,
// the types of what they write, and which tensors share a storage from which
// call to which.
//
// The plan may come from anywhere. An index that is out of range shows as "?7".
// ResourceExhausted where the text would be longer than 1 GiB.
absl::StatusOr<std::string> PrintPlan(const Plan& plan);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_TEXT_PLAN_PRINTER_H_
