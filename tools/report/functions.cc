#include "tools/report/functions.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/report/code.h"

namespace ingot::report {
namespace {

using Json = nlohmann::ordered_json;

// The types of tensors, given by their indices.
std::string Types(const Json& tensors, const Json& indices) {
  std::vector<std::string> types;
  for (const Json& index : indices) {
    types.push_back(tensors[index.get<size_t>()]["y"]);
  }
  return types.size() == 1 ? types[0]
                           : absl::StrCat("(", absl::StrJoin(types, ", "), ")");
}

std::string Signature(const Json& tensors, const Json& call) {
  std::string read = Types(tensors, call["i"]);
  if (call["i"].size() == 1) read = absl::StrCat("(", read, ")");
  return absl::StrCat(read, " -> ", Types(tensors, call["r"]));
}

// The facts about a function that are known while its calls are walked.
struct Row {
  FunctionFacts facts;
  std::map<std::string, uint64_t> weights;  // bytes by key
  std::set<std::string> nodes;
};

void AddCall(const Json& tensors, const Json& call, Row* row) {
  if (row->facts.calls++ == 0) row->facts.signature = Signature(tensors, call);
  for (const Json& index : call["i"]) {
    const Json* tensor = &tensors[index.get<size_t>()];
    while (tensor->contains("v")) {
      tensor = &tensors[(*tensor)["v"].get<size_t>()];
    }
    if (!tensor->contains("c")) continue;
    row->weights[(*tensor)["c"]] = tensor->value("b", uint64_t{0});
  }
  const std::string source = call["s"];
  for (const absl::string_view node :
       absl::StrSplit(source, ", ", absl::SkipEmpty())) {
    if (row->nodes.insert(std::string(node)).second) {
      row->facts.nodes.emplace_back(node);
    }
  }
}

}  // namespace

std::vector<FunctionFacts> ListFunctions(const ArtifactSet& set,
                                         const nlohmann::ordered_json& graphs) {
  std::map<std::string, size_t> indices;
  std::vector<Row> rows;
  FunctionNames names;
  for (const Json& graph : graphs) {
    for (const Json& call : graph["calls"]) {
      if (call.contains("step")) continue;
      const std::string name = call["f"];
      const auto [it, is_new] = indices.emplace(name, rows.size());
      if (is_new) {
        rows.emplace_back();
        rows.back().facts.name = name;
        names.insert(name);
      }
      AddCall(graph["tensors"], call, &rows[it->second]);
    }
  }
  const std::map<std::string, Code> code = FindCode(set, names);
  std::vector<FunctionFacts> functions;
  for (Row& row : rows) {
    FunctionFacts& facts = row.facts;
    for (const auto& [key, bytes] : row.weights) facts.weight_bytes += bytes;
    if (const auto it = code.find(facts.name); it != code.end()) {
      const Artifact& artifact = set.artifacts()[it->second.artifact];
      facts.target_key = artifact.target_key;
      facts.artifact = ArtifactPath(artifact);
      facts.code_bytes = it->second.bytes;
    }
    functions.push_back(std::move(facts));
  }
  return functions;
}

std::vector<TargetFacts> ListTargets(
    const ArtifactSet& set, const std::vector<FunctionFacts>& functions) {
  std::vector<TargetFacts> targets;
  for (const Artifact& artifact : set.artifacts()) {
    if (targets.empty() || targets.back().target_key != artifact.target_key) {
      targets.emplace_back();
      targets.back().target_key = artifact.target_key;
    }
    TargetFacts& target = targets.back();
    ++target.artifacts;
    target.bytes += artifact.content.size();
    std::vector<std::string>& codegens = target.codegens;
    if (codegens.empty() || codegens.back() != artifact.codegen_id) {
      codegens.push_back(artifact.codegen_id);
    }
  }
  for (const FunctionFacts& function : functions) {
    for (TargetFacts& target : targets) {
      if (target.target_key != function.target_key) continue;
      ++target.functions;
      target.calls += function.calls;
      target.code_bytes += function.code_bytes.value_or(0);
      target.weight_bytes += function.weight_bytes;
    }
  }
  return targets;
}

}  // namespace ingot::report
