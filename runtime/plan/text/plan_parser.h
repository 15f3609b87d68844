#ifndef INGOT_RUNTIME_PLAN_TEXT_PLAN_PARSER_H_
#define INGOT_RUNTIME_PLAN_TEXT_PLAN_PARSER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// Reads what PrintPlan (plan_printer.h) writes, edited or not, from anywhere,
// and checks it with CheckPlan (check.h). InvalidArgument "line:column: what"
// for the first thing that is wrong; Unimplemented for another version of
// plans.
absl::StatusOr<Plan> ParsePlan(absl::string_view text);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_TEXT_PLAN_PARSER_H_
