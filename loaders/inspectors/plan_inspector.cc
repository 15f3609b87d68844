#include "loaders/inspectors/plan_inspector.h"

#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "artifact/loader_names.h"
#include "base/status_macros.h"
#include "runtime/plan/shared_plan.h"
#include "runtime/plan/text/plan_parser.h"
#include "runtime/plan/text/plan_printer.h"

namespace ingot {
namespace {

absl::StatusOr<std::string> InspectPlan(const Artifact& artifact,
                                        const ArtifactSet&) {
  INGOT_ASSIGN_OR_RETURN(const SharedPlan plan,
                         ReadPlan(artifact.content.view()));
  return PrintPlan(*plan);
}

absl::StatusOr<std::string> ReadBack(absl::string_view text) {
  INGOT_ASSIGN_OR_RETURN(const Plan plan, ParsePlan(text));
  return plan.SerializeAsString();
}

}  // namespace

absl::Status RegisterPlanInspector(InspectorRegistry* inspectors) {
  InspectorRule rule;
  rule.name = "plan";
  rule.loader = kMetadataLoader;
  rule.output_suffix = ".txt";
  rule.inspect = InspectPlan;
  rule.read_back = ReadBack;
  return inspectors->Register(std::move(rule));
}

}  // namespace ingot
