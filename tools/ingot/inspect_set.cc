#include "tools/ingot/inspect_set.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "artifact/edits.h"
#include "base/status_macros.h"
#include "runtime/plan/describe.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/plan.pb.h"
#include "tools/ingot/output.h"
#include "tools/ingot/plans.h"
#include "tools/ingot/wrap.h"
#include "tools/report/functions.h"
#include "tools/report/set_facts.h"

namespace ingot {
namespace {

using Json = nlohmann::ordered_json;
using Facts = std::vector<std::pair<std::string, std::string>>;
using report::FunctionFacts;
using report::TargetFacts;

// The calls of functions, those in bodies of loops and branches among them.
int CountCalls(const Plan& plan) {
  int calls = 0;
  for (const PlanCall& call : plan.calls()) calls += call.has_function();
  for (const Plan& body : plan.bodies()) calls += CountCalls(body);
  return calls;
}

// Adds the model's inputs and outputs, if the set has a plan.
void AddInterface(const ArtifactSet& set, Facts* facts) {
  for (const SharedPlan& shared : ReadPlans(set)) {
    const Plan& plan = *shared;
    const std::vector<std::string> symbols = SymbolNames(plan);
    const auto add = [&](const char* title, const auto& indices) {
      for (const uint32_t index : indices) {
        if (index >= static_cast<uint32_t>(plan.tensors_size())) continue;
        const PlanTensor& tensor = plan.tensors(static_cast<int>(index));
        facts->emplace_back(title,
                            absl::StrCat(tensor.name(), ": ",
                                         TypeToString(plan, tensor, symbols)));
      }
    };
    add("input", plan.inputs());
    add("output", plan.outputs());
    add("state", plan.states());
    facts->emplace_back("kernel calls", absl::StrCat(CountCalls(plan)));
    // Variants are of one model.
    if (!set.provenance().variants().empty()) return;
  }
}

Facts About(const ArtifactSet& set) {
  const Provenance& provenance = set.provenance();
  // A set that a person made of one file knows nothing of this.
  const bool is_compiled = !provenance.ingot_version().empty();
  Facts facts = {{is_compiled ? "model" : "artifacts",
                  is_compiled ? provenance.model_name()
                              : absl::StrCat(set.artifacts().size())}};
  const auto add = [&](absl::string_view title, absl::string_view value) {
    if (!value.empty()) facts.emplace_back(title, value);
  };
  add("model's SHA-256", provenance.model_sha256());
  for (const Provenance::Option& entry : provenance.model_metadata()) {
    add(absl::StrCat("model's ", Cut(entry.name())), Cut(entry.value()));
  }
  if (is_compiled) {
    add("made by", absl::StrCat("Ingot ", provenance.ingot_version()));
  }
  if (provenance.variants().empty()) add("target", provenance.target());
  for (const Provenance::Variant& variant : provenance.variants()) {
    add(absl::StrCat("variant ", variant.name()), variant.target());
  }
  for (const Provenance::TargetKey& key : provenance.target_keys()) {
    const std::string of = provenance.target_keys_size() == 1
                               ? ""
                               : absl::StrCat(" of ", key.name());
    add(absl::StrCat("target triple", of), key.triple());
    add(absl::StrCat("CPU features needed", of),
        absl::StrJoin(key.cpu_features(), " "));
    add(absl::StrCat("libraries needed", of),
        absl::StrJoin(key.link_libraries(), " "));
  }
  add("edited", absl::StrJoin(EditedPaths(provenance), ", "));
  add("symbols start with", provenance.symbol_prefix());
  for (const Provenance::Option& option : provenance.options()) {
    facts.emplace_back(absl::StrCat("option ", option.name()), option.value());
  }
  AddInterface(set, &facts);
  return facts;
}

std::string SizeText(uint64_t bytes) {
  return bytes == 0 ? "-" : HumanSize(bytes);
}

// The first names, and how many more there are.
std::string FewOf(const std::vector<std::string>& names) {
  constexpr size_t kMost = 4;
  const size_t shown = std::min(names.size(), kMost);
  return absl::StrCat(absl::StrJoin(names.begin(), names.begin() + shown, ", "),
                      names.size() > shown
                          ? absl::StrCat(" and ", names.size() - shown, " more")
                          : "");
}

std::string TargetTable(const std::vector<TargetFacts>& targets) {
  Table table({"TARGET", "MADE BY", ">ARTIFACTS", ">SIZE", ">FUNCTIONS",
               ">CALLS", ">CODE", ">WEIGHTS"});
  for (const TargetFacts& target : targets) {
    table.Add({target.target_key, absl::StrJoin(target.codegens, ", "),
               absl::StrCat(target.artifacts), HumanSize(target.bytes),
               absl::StrCat(target.functions), absl::StrCat(target.calls),
               SizeText(target.code_bytes), SizeText(target.weight_bytes)});
  }
  return table.ToString();
}

// A row for each call: how much is in use, also as a bar.
std::string MemoryTable(const Json& graph) {
  // A narrow terminal has room for the function's name beside a short one.
  const int bar = WidthOf(stdout) < 120 ? 20 : 40;
  const std::vector<int64_t> use = graph["use"];
  const int64_t most =
      std::max<int64_t>(1, *std::max_element(use.begin(), use.end()));
  Table table({">CALL", ">IN USE", "", "FUNCTION", "NODES"});
  for (size_t i = 0; i < use.size(); ++i) {
    const bool is_end = i + 1 == use.size();
    const Json call = is_end ? Json() : graph["calls"][i];
    const auto length = static_cast<size_t>(
        static_cast<double>(use[i]) / static_cast<double>(most) * bar + 0.5);
    table.Add({is_end ? "end" : absl::StrCat(i),
               HumanSize(static_cast<uint64_t>(use[i])),
               std::string(length, '#'), is_end ? "" : call.value("f", ""),
               is_end ? "" : Cut(call.value("s", ""))});
  }
  return table.ToString();
}

Json FunctionsJson(const std::vector<FunctionFacts>& functions) {
  Json json = Json::array();
  for (const FunctionFacts& function : functions) {
    json.push_back({{"name", function.name},
                    {"target", function.target_key},
                    {"artifact", function.artifact},
                    {"calls", function.calls},
                    {"code_bytes",
                     function.code_bytes ? Json(*function.code_bytes) : Json()},
                    {"weight_bytes", function.weight_bytes},
                    {"signature", function.signature},
                    {"nodes", function.nodes}});
  }
  return json;
}

Json TargetsJson(const std::vector<TargetFacts>& targets) {
  Json json = Json::array();
  for (const TargetFacts& target : targets) {
    json.push_back({{"target", target.target_key},
                    {"codegens", target.codegens},
                    {"artifacts", target.artifacts},
                    {"bytes", target.bytes},
                    {"functions", target.functions},
                    {"calls", target.calls},
                    {"code_bytes", target.code_bytes},
                    {"weight_bytes", target.weight_bytes}});
  }
  return json;
}

}  // namespace

std::string DescribeSet(const ArtifactSet& set) {
  const Facts about = About(set);
  Table facts({about[0].first, about[0].second});
  for (size_t i = 1; i < about.size(); ++i) {
    facts.Add({about[i].first, about[i].second});
  }
  std::vector<FunctionFacts> functions;
  if (const absl::StatusOr<Json> graphs = report::DescribePlan(set);
      graphs.ok()) {
    functions = report::ListFunctions(set, *graphs);
  } else {
    facts.Add({"the plan is wrong", Cut(graphs.status().message())});
  }
  Table artifacts({"ARTIFACT", "LOADER", ">SIZE"});
  for (const Artifact& artifact : set.artifacts()) {
    artifacts.Add({ArtifactPath(artifact), artifact.loader,
                   HumanSize(artifact.content.size())});
  }
  return absl::StrCat(facts.ToString(), "\n", artifacts.ToString(), "\n",
                      TargetTable(report::ListTargets(set, functions)));
}

absl::StatusOr<std::string> DescribeFunctions(const ArtifactSet& set) {
  INGOT_ASSIGN_OR_RETURN(const Json graphs, report::DescribePlan(set));
  Table table(
      {"FUNCTION", "TARGET", ">CALLS", ">CODE", ">WEIGHTS", "TYPES", "NODES"});
  for (const FunctionFacts& function : report::ListFunctions(set, graphs)) {
    table.Add({function.name,
               function.target_key.empty() ? "-" : function.target_key,
               absl::StrCat(function.calls),
               SizeText(function.code_bytes.value_or(0)),
               SizeText(function.weight_bytes), Cut(function.signature),
               FewOf(function.nodes)});
  }
  return table.ToString();
}

absl::StatusOr<std::string> DescribeMemory(const ArtifactSet& set) {
  INGOT_ASSIGN_OR_RETURN(const Json graphs, report::DescribePlan(set));
  std::string text;
  for (const Json& graph : graphs) {
    uint64_t bytes = 0;
    int open = 0;
    for (const Json& storage : graph["storage"]) {
      storage.is_null() ? void(++open) : void(bytes += storage.get<uint64_t>());
    }
    absl::StrAppend(
        &text, text.empty() ? "" : "\n", OneLine(graph.value("name", "")), ": ",
        HumanSize(bytes), " of storage",
        open > 0 ? absl::StrCat(", and ", open, " that grow with inputs") : "",
        "\n", MemoryTable(graph));
  }
  return text;
}

absl::StatusOr<nlohmann::ordered_json> SetAsJson(const ArtifactSet& set) {
  INGOT_ASSIGN_OR_RETURN(const Json graphs, report::DescribePlan(set));
  const std::vector<FunctionFacts> functions =
      report::ListFunctions(set, graphs);
  Json artifacts = Json::array(), memory = Json::array();
  for (const Artifact& artifact : set.artifacts()) {
    artifacts.push_back({{"path", ArtifactPath(artifact)},
                         {"loader", artifact.loader},
                         {"size", artifact.content.size()}});
  }
  for (const Json& graph : graphs) {
    memory.push_back({{"graph", graph["name"]},
                      {"storage", graph["storage"]},
                      {"in_use", graph["use"]}});
  }
  return Json{{"about", About(set)},
              {"artifacts", std::move(artifacts)},
              {"targets", TargetsJson(report::ListTargets(set, functions))},
              {"functions", FunctionsJson(functions)},
              {"memory", std::move(memory)}};
}

}  // namespace ingot
