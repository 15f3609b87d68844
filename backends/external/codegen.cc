#include "backends/external/codegen.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/external/answer.h"
#include "backends/external/region_json.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/pattern_parser.h"

namespace ingot::external {
namespace {

using nlohmann::json;

json TargetJson(const Target& target) {
  return {
      {"key", target.key}, {"kind", target.kind}, {"options", target.options}};
}

absl::Status Supports(Connection& connection, const Target& target, json node) {
  const absl::StatusOr<Answer> answer =
      connection.Ask({{"method", "supports"},
                      {"target", TargetJson(target)},
                      {"node", std::move(node)}});
  // That nothing is known of the node is no reason to refuse it.
  if (!answer.ok()) return absl::AbortedError(answer.status().message());
  const std::string why_not = TextOr(answer->body, "why_not", "");
  return why_not.empty() ? absl::OkStatus() : absl::UnimplementedError(why_not);
}

absl::Status AddArtifact(const Answer& answer, const json& artifact,
                         const std::string& codegen_id, CodegenResult* result) {
  const std::string file_name = TextOr(artifact, "file_name", "");
  const absl::StatusOr<absl::string_view> content =
      answer.Bytes(artifact, "content");
  if (!content.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the artifact '", file_name, "': ", content.status().message()));
  }
  // The set refuses names that are no names.
  codegen::AddArtifact(codegen_id, TextOr(artifact, "loader", ""), file_name,
                       std::string(*content), result);
  return absl::OkStatus();
}

absl::StatusOr<CodegenResult> Generate(Connection& connection,
                                       const Target& target,
                                       const relay::Module& module,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  Payload constants;
  json request = {{"method", "relay_to_runtime"},
                  {"target", TargetJson(target)},
                  {"region", RegionJson(module, region, symbol, &constants)}};
  INGOT_ASSIGN_OR_RETURN(const Answer answer,
                         connection.Ask(std::move(request), constants));
  CodegenResult result;
  for (const json& artifact : Objects(answer.body, "artifacts")) {
    absl::Status added = AddArtifact(answer, artifact, target.kind, &result);
    if (!added.ok()) {
      return Annotate(added, absl::StrCat("the backend ", connection.name()));
    }
  }
  if (result.artifacts.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the backend ", connection.name(),
                     " made no artifact for the region ", symbol));
  }
  result.link_libraries = Texts(answer.body, "link_libraries");
  return result;
}

// Returns a composite that the other side describes. It is asked about each
// that is found if `asks` says so.
absl::StatusOr<CompositePattern> MakeComposite(
    const std::shared_ptr<Connection>& connection, const json& described,
    bool asks) {
  const std::string name = TextOr(described, "name", "");
  absl::StatusOr<relay::Pattern> pattern =
      relay::ParsePattern(TextOr(described, "pattern", ""));
  if (pattern.ok() && name.empty()) {
    pattern = absl::InvalidArgumentError("it has no name");
  }
  if (!pattern.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the backend ", connection->name(), ": the composite '",
                     name, "': ", pattern.status().message()));
  }
  CompositePattern composite = {name, *std::move(pattern), nullptr};
  if (asks) {
    composite.check = [connection, name](const Target& target,
                                         absl::Span<relay::Node* const> nodes) {
      return Supports(*connection, target, CompositeJson(name, nodes));
    };
  }
  return composite;
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
  const bool asks = BoolOr(described, "supports", false);
  if (asks) {
    kind.supports = [connection](const Target& target,
                                 const relay::Node& node) {
      return Supports(*connection, target, NodeJson(node));
    };
  }
  for (const json& composite : Objects(described, "composites")) {
    INGOT_ASSIGN_OR_RETURN(CompositePattern pattern,
                           MakeComposite(connection, composite, asks));
    kind.patterns.push_back(std::move(pattern));
  }
  if (BoolOr(described, "constants", false)) {
    // They stay in the region as they are.
    kind.constant_updater = [](const Target&, relay::Function*) {
      return absl::OkStatus();
    };
  }
  kind.relay_to_runtime =
      [connection](const Target& target, const relay::Module& module,
                   const relay::Function& region, absl::string_view symbol) {
        return Generate(*connection, target, module, region, symbol);
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
