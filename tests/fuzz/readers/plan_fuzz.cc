// Plans, as the load stage reads them: the message, its check, and the
// inspector that shows one to a person.
#include <string>
#include <vector>

#include "artifact/inspector.h"
#include "base/status_macros.h"
#include "google/protobuf/text_format.h"
#include "loaders/inspectors/plan_inspector.h"
#include "loaders/metadata_loader.h"
#include "runtime/plan/check.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {

namespace {

// y = f(x, w), and a view of y.
constexpr char kPlan[] = R"pb(
  version: 4
  entry: "model"
  devices { kind: "cpu" }
  symbols { name: "N" }
  phases { symbols: 0 }
  tensors {
    name: "x"
    dtype { code: 2 bits: 32 }
    shape { op: SYMBOL value: 0 }
    shape { value: 4 }
    input: 0
  }
  tensors {
    name: "w"
    dtype { code: 2 bits: 32 }
    shape { value: 4 }
    constant: "w"
  }
  tensors {
    name: "y"
    dtype { code: 2 bits: 32 }
    shape { op: SYMBOL value: 0 }
    shape { value: 4 }
    storage: 0
  }
  inputs: 0
  outputs: 2
  storage {
    bytes {
      op: MUL
      operands { op: SYMBOL }
      operands { value: 16 }
    }
  }
  calls { function: "f" args: 0 args: 1 args: 2 num_outputs: 1 source: "n1" }
)pb";

}  // namespace

std::vector<std::string> Seeds() {
  Plan plan;
  if (!google::protobuf::TextFormat::ParseFromString(kPlan, &plan) ||
      !CheckPlan(plan).ok()) {
    return {};  // which fails the test
  }
  return {plan.SerializeAsString()};
}

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
    rule->inspect(artifact).status().IgnoreError();
  }

  const ArtifactSet set;
  LoadContext context{set};
  if (!LoadBinaryMetadata({artifact}, context).ok()) return false;
  return CheckPlan(context.plan).ok();
}

}  // namespace ingot::fuzz
