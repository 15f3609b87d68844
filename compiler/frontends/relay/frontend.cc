#include "compiler/frontends/relay/frontend.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "compiler/frontends/relay/input_shapes.h"
#include "compiler/relay/op.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/verifier.h"

namespace ingot {
namespace {

// Whether the text, after blanks and comments, begins a module.
bool IsRelayText(absl::string_view text) {
  while (true) {
    text = absl::StripLeadingAsciiWhitespace(text);
    if (!absl::ConsumePrefix(&text, "//")) break;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  return absl::ConsumePrefix(&text, "module") && !text.empty() &&
         (absl::ascii_isspace(text[0]) || text[0] == '{');
}

absl::StatusOr<std::unique_ptr<relay::Module>> Read(
    const Blob& model, const std::string& model_path) {
  std::map<std::string, Tensor> constants;
  if (!model_path.empty()) {
    INGOT_ASSIGN_OR_RETURN(constants, relay::ReadConstantsOf(model_path));
  }
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<relay::Module> module,
                         relay::ReadModule(model.view(), constants));
  INGOT_RETURN_IF_ERROR(relay::Verify(*module));
  if (module->main() == nullptr) {
    return absl::InvalidArgumentError("the module has no function @main");
  }
  return module;
}

bool IsComputed(const relay::Node& node) {
  return node.kind != relay::NodeKind::kInput &&
         node.kind != relay::NodeKind::kConstant;
}

std::string OperationOf(const relay::Node& node) {
  if (node.op != nullptr) return node.op->name;
  if (node.kind == relay::NodeKind::kCallFunction) return node.callee;
  return node.kind == relay::NodeKind::kIf ? "if" : "loop";
}

// The text's own nodes are the model's, unless it says where they come from.
void NameSources(relay::Module* module) {
  std::set<std::string> named;
  for (const auto& function : module->functions()) {
    for (const auto& node : function->nodes()) {
      if (!IsComputed(*node)) continue;
      if (node->sources.empty()) node->sources.Add(node->name);
      for (const std::string& source : node->sources) {
        if (!named.insert(source).second) continue;
        module->model_nodes.push_back({source, OperationOf(*node)});
      }
    }
  }
}

void AddOutputs(const std::vector<std::string>& names, relay::Function* main) {
  std::map<std::string, relay::Value> values;
  for (const auto& node : main->nodes()) {
    if (node->outputs.size() == 1 && !node->outputs[0].is_sequence) {
      values[node->name] = relay::Value{node.get()};
    }
  }
  for (const std::string& name : names) {
    const auto value = values.find(name);
    if (value == values.end()) continue;
    if (std::find(main->outputs.begin(), main->outputs.end(), value->second) !=
        main->outputs.end()) {
      continue;
    }
    main->outputs.push_back(value->second);
    main->output_names.push_back(name);
  }
}

absl::StatusOr<relay::Module> Import(const Blob& model,
                                     const ImportOptions& options) {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<relay::Module> module,
                         Read(model, options.model_path));
  INGOT_RETURN_IF_ERROR(SetInputShapes(options.input_shapes, module.get()));
  INGOT_RETURN_IF_ERROR(relay::Verify(*module));
  if (!options.states.empty()) {
    return absl::UnimplementedError(
        "relay text names its states itself: attrs {states=[...]} of @main");
  }
  NameSources(module.get());
  AddOutputs(options.extra_outputs, module->main());
  return std::move(*module);
}

absl::StatusOr<std::vector<ModelValue>> ListValues(
    const Blob& model, const ImportOptions& options) {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<relay::Module> module,
                         Read(model, options.model_path));
  std::vector<ModelValue> values;
  for (const auto& node : module->main()->nodes()) {
    if (!IsComputed(*node) || node->outputs.size() != 1) continue;
    values.push_back(
        {node->name, absl::StrCat(OperationOf(*node), " ", node->name)});
  }
  return values;
}

}  // namespace

absl::Status RegisterRelayFrontend(FrontendRegistry* registry) {
  Frontend frontend;
  frontend.name = "relay";
  frontend.suffix = ".relay";
  frontend.looks_for = "text that begins with the word module";
  frontend.accepts = &IsRelayText;
  frontend.import = &Import;
  frontend.list_values = &ListValues;
  return registry->Register(std::move(frontend));
}

}  // namespace ingot
