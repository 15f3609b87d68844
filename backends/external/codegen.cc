#include "backends/external/codegen.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "backends/external/answer.h"
#include "backends/external/region_json.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"

namespace ingot::external {
namespace {

using nlohmann::json;

json TargetJson(const Target& target) {
  return {
      {"key", target.key}, {"kind", target.kind}, {"options", target.options}};
}

absl::Status Supports(Connection& connection, const Target& target,
                      const relay::Node& node) {
  INGOT_ASSIGN_OR_RETURN(const json answer,
                         connection.Ask({{"method", "supports"},
                                         {"target", TargetJson(target)},
                                         {"node", NodeJson(node)}}));
  const std::string why_not = TextOr(answer, "why_not", "");
  return why_not.empty() ? absl::OkStatus() : absl::UnimplementedError(why_not);
}

absl::Status AddArtifact(const json& answer, const std::string& codegen_id,
                         CodegenResult* result) {
  const std::string file_name = TextOr(answer, "file_name", "");
  std::string content;
  if (!absl::Base64Unescape(TextOr(answer, "base64", ""), &content)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the artifact '", file_name, "' is not in base64"));
  }
  // The set refuses names that are no names.
  codegen::AddArtifact(codegen_id, TextOr(answer, "loader", ""), file_name,
                       std::move(content), result);
  return absl::OkStatus();
}

absl::StatusOr<CodegenResult> Generate(Connection& connection,
                                       const Target& target,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  INGOT_ASSIGN_OR_RETURN(
      const json answer,
      connection.Ask({{"method", "relay_to_runtime"},
                      {"target", TargetJson(target)},
                      {"region", RegionJson(region, symbol)}}));
  CodegenResult result;
  for (const json& artifact : Objects(answer, "artifacts")) {
    absl::Status added = AddArtifact(artifact, target.kind, &result);
    if (!added.ok()) {
      return absl::Status(added.code(),
                          absl::StrCat("the backend ", connection.name(), ": ",
                                       added.message()));
    }
  }
  if (result.artifacts.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the backend ", connection.name(),
                     " made no artifact for the region ", symbol));
  }
  result.link_libraries = Texts(answer, "link_libraries");
  return result;
}

absl::StatusOr<TargetKind> MakeKind(std::shared_ptr<Connection> connection,
                                    const json& described) {
  TargetKind kind;
  kind.name = TextOr(described, "name", "");
  if (kind.name.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the backend ", connection->name(),
                     " describes a target without name"));
  }
  kind.doc = TextOr(described, "doc", "");
  kind.loaders = Texts(described, "loaders");
  kind.min_region = static_cast<int>(
      std::clamp<int64_t>(IntegerOr(described, "min_region", 1), 1, 1 << 20));
  if (described.contains("operators")) {
    kind.operators = Texts(described, "operators");
  }
  const auto options = described.find("options");
  if (options != described.end() && options->is_object()) {
    for (const auto& [name, doc] : options->items()) {
      kind.options[name].doc = TextOr(*options, name.c_str(), "");
    }
  }
  if (BoolOr(described, "supports", false)) {
    kind.supports = [connection](const Target& target,
                                 const relay::Node& node) {
      return Supports(*connection, target, node);
    };
  }
  kind.relay_to_runtime =
      [connection](const Target& target, const relay::Module&,
                   const relay::Function& region, absl::string_view symbol) {
        return Generate(*connection, target, region, symbol);
      };
  return kind;
}

}  // namespace

absl::Status RegisterTargets(std::shared_ptr<Connection> connection,
                             TargetRegistry* registry,
                             std::vector<std::string>* loaders) {
  for (const json& described : Objects(connection->description(), "targets")) {
    INGOT_ASSIGN_OR_RETURN(TargetKind kind, MakeKind(connection, described));
    loaders->insert(loaders->end(), kind.loaders.begin(), kind.loaders.end());
    INGOT_RETURN_IF_ERROR(registry->Register(std::move(kind)));
  }
  return absl::OkStatus();
}

}  // namespace ingot::external
