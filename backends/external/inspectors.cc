#include "backends/external/inspectors.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "backends/external/answer.h"
#include "base/status_macros.h"

namespace ingot::external {
namespace {

using nlohmann::json;

absl::StatusOr<std::string> Inspect(Connection& connection,
                                    const std::string& inspector,
                                    const Artifact& artifact) {
  Payload content;
  json request = {{"method", "inspect"},
                  {"inspector", inspector},
                  {"artifact",
                   {{"target_key", artifact.target_key},
                    {"codegen_id", artifact.codegen_id},
                    {"loader", artifact.loader},
                    {"file_name", artifact.file_name},
                    {"content", content.Add(artifact.content.view())}}}};
  INGOT_ASSIGN_OR_RETURN(const Answer answer,
                         connection.Ask(std::move(request), content));
  return TextOr(answer.body, "text", "");
}

}  // namespace

absl::Status RegisterInspectors(std::shared_ptr<Connection> connection,
                                InspectorRegistry* registry) {
  for (const json& described :
       Objects(connection->description(), "inspectors")) {
    InspectorRule rule;
    rule.name = TextOr(described, "name", "");
    rule.file_suffixes = Texts(described, "file_suffixes");
    rule.loader = TextOr(described, "loader", "");
    rule.codegen_id = TextOr(described, "codegen_id", "");
    rule.output_suffix = TextOr(described, "output_suffix", "");
    rule.inspect = [connection, name = rule.name](const Artifact& artifact,
                                                  const ArtifactSet&) {
      return Inspect(*connection, name, artifact);
    };
    INGOT_RETURN_IF_ERROR(registry->Register(std::move(rule)));
  }
  return absl::OkStatus();
}

}  // namespace ingot::external
