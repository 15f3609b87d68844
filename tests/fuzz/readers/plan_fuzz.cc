// Plans, as the load stage reads them: the message, its check, and the
// inspector that shows one to a person.
#include <string>
#include <vector>

#include "artifact/inspector.h"
#include "base/status_macros.h"
#include "loaders/inspectors/plan_inspector.h"
#include "loaders/metadata_loader.h"
#include "runtime/plan/check.h"
#include "runtime/plan/small_plan.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {

std::vector<std::string> Seeds() { return {SmallPlan().SerializeAsString()}; }

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  Artifact artifact;
  artifact.codegen_id = "ingot";
  artifact.loader = "metadata";
  artifact.target_key = "host";
  artifact.file_name = "plan.binpb";
  artifact.content = Blob::FromString(std::string(bytes));

  InspectorRegistry inspectors;
  INGOT_RETURN_IF_ERROR(RegisterPlanInspector(&inspectors));
  for (const InspectorRule* rule : inspectors.Find(artifact)) {
    rule->inspect(artifact, {}).status().IgnoreError();
  }

  const ArtifactSet set;
  LoadContext context{set};
  if (!LoadBinaryMetadata({artifact}, context).ok()) return false;
  return CheckPlan(*context.plan).ok();
}

}  // namespace ingot::fuzz
