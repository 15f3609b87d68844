#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "artifact/loader_names.h"
#include "base/status_macros.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/safetensors.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/describe.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/json.h"
#include "tools/ingot/line_diff.h"
#include "tools/ingot/output.h"
#include "tools/ingot/plan_facts.h"
#include "tools/ingot/plans.h"
#include "tools/ingot/sets.h"

namespace ingot {
namespace {

// One of the things that the two sets do not have alike. Empty where a set does
// not have it.
struct Difference {
  std::string name, a, b;
};

// By name, what each set says of it; what they say alike is no difference.
std::vector<Difference> CompareTexts(
    const std::map<std::string, std::string>& a,
    const std::map<std::string, std::string>& b) {
  std::vector<Difference> differences;
  for (const auto& [name, text] : a) {
    const auto other = b.find(name);
    const std::string in_b = other == b.end() ? "" : other->second;
    if (text != in_b) differences.push_back({name, text, in_b});
  }
  for (const auto& [name, text] : b) {
    if (a.count(name) == 0) differences.push_back({name, "", text});
  }
  std::sort(
      differences.begin(), differences.end(),
      [](const Difference& x, const Difference& y) { return x.name < y.name; });
  return differences;
}

// The facts in a provenance: what the set was made from and with.
std::map<std::string, std::string> FactsOf(const Provenance& provenance) {
  std::map<std::string, std::string> facts = {
      {"model", provenance.model_name()},
      {"model's SHA-256", provenance.model_sha256()},
      {"made by Ingot", provenance.ingot_version()},
      {"target", provenance.target()},
      {"symbols start with", provenance.symbol_prefix()},
      {"linked for", provenance.library_key()},
      {"edited", absl::StrJoin(provenance.edited(), ", ")},
  };
  const auto add = [&facts](const std::string& what, const auto& entries) {
    for (const Provenance::Option& entry : entries) {
      std::string& value = facts[absl::StrCat(what, entry.name())];
      absl::StrAppend(&value, value.empty() ? "" : ", ", entry.value());
    }
  };
  add("metadata ", provenance.model_metadata());
  add("option ", provenance.options());
  for (const Provenance::TargetKey& key : provenance.target_keys()) {
    const std::string of = absl::StrCat(" of ", key.name());
    facts["target triple" + of] = key.triple();
    facts["CPU features" + of] = absl::StrJoin(key.cpu_features(), " ");
    facts["libraries" + of] = absl::StrJoin(key.link_libraries(), " ");
  }
  for (const Provenance::Variant& variant : provenance.variants()) {
    facts[absl::StrCat("variant ", variant.name())] = variant.target();
    add(absl::StrCat("variant ", variant.name(), ": option "),
        variant.options());
  }
  return facts;
}

// "12.3 KiB, native", by path.
std::map<std::string, std::string> ArtifactsOf(const ArtifactSet& set) {
  std::map<std::string, std::string> artifacts;
  for (const Artifact& artifact : set.artifacts()) {
    artifacts[ArtifactPath(artifact)] =
        absl::StrCat(HumanSize(artifact.content.size()), ", ", artifact.loader);
  }
  return artifacts;
}

// Those of both sets that have other bytes.
std::vector<Difference> CompareArtifacts(const ArtifactSet& a,
                                         const ArtifactSet& b) {
  std::map<std::string, std::string> in_a = ArtifactsOf(a),
                                     in_b = ArtifactsOf(b);
  for (const Artifact& artifact : a.artifacts()) {
    const Artifact* other =
        b.Find(artifact.target_key, artifact.codegen_id, artifact.file_name);
    if (other == nullptr || other->content.view() == artifact.content.view()) {
      continue;
    }
    // Two of the same size and loader would look alike.
    const std::string path = ArtifactPath(artifact);
    if (in_a[path] == in_b[path]) absl::StrAppend(&in_b[path], ", other bytes");
  }
  return CompareTexts(in_a, in_b);
}

// The whole set's plans, whose calls and nodes are counted.
class Plans {
 public:
  explicit Plans(const ArtifactSet& set) {
    for (const SharedPlan& plan : ReadPlans(set)) Count(*plan);
  }

  // "3 calls", by function.
  std::map<std::string, std::string> Functions() const {
    std::map<std::string, std::string> functions;
    for (const auto& [name, calls] : calls_) {
      functions[name] = absl::StrCat(calls, calls == 1 ? " call" : " calls");
    }
    return functions;
  }

  // The functions that compute it, by the model's nodes.
  std::map<std::string, std::string> Nodes() const {
    std::map<std::string, std::string> nodes;
    for (const auto& [name, functions] : nodes_) {
      nodes[name] = absl::StrJoin(functions, ", ");
    }
    return nodes;
  }

 private:
  void Count(const Plan& plan) {
    for (const PlanCall& call : plan.calls()) {
      if (call.function().empty()) continue;
      ++calls_[call.function()];
      if (!call.source().empty()) nodes_[call.source()].insert(call.function());
    }
    for (const Plan& body : plan.bodies()) Count(body);
  }

  std::map<std::string, int> calls_;
  std::map<std::string, std::set<std::string>> nodes_;
};

// What differs between plans, one for each variant.
std::vector<Difference> ComparePlans(const ArtifactSet& a,
                                     const ArtifactSet& b) {
  const std::vector<SharedPlan> plans_a = ReadPlans(a), plans_b = ReadPlans(b);
  const Plan none;
  std::vector<Difference> differences;
  for (size_t i = 0; i < std::max(plans_a.size(), plans_b.size()); ++i) {
    const Plan& in_a = i < plans_a.size() ? *plans_a[i] : none;
    const Plan& in_b = i < plans_b.size() ? *plans_b[i] : none;
    const std::string of = std::max(plans_a.size(), plans_b.size()) == 1
                               ? ""
                               : absl::StrCat("plan ", i, ": ");
    for (Difference& d : CompareTexts(PlanFacts(in_a), PlanFacts(in_b))) {
      d.name = of + d.name;
      differences.push_back(std::move(d));
    }
    Difference call;
    const std::string at = FirstOtherCall(in_a, in_b, &call.a, &call.b);
    if (at.empty()) continue;
    call.name = absl::StrCat(of, "first other ", at);
    differences.push_back(std::move(call));
  }
  return differences;
}

// All weights by artifact and name; what cannot be read is none.
NamedTensors WeightsOf(const ArtifactSet& set) {
  NamedTensors weights;
  for (const Artifact& artifact : set.artifacts()) {
    if (artifact.loader != kConstantsLoader) continue;
    absl::StatusOr<NamedTensors> tensors = ReadSafetensors(artifact.content);
    if (!tensors.ok()) continue;
    for (auto& [name, tensor] : *tensors) {
      weights[absl::StrCat(artifact.target_key, "/", name)] = std::move(tensor);
    }
  }
  return weights;
}

bool SameBytes(const Tensor& a, const Tensor& b) {
  const auto bytes = [](const Tensor& t) {
    return absl::string_view(static_cast<const char*>(t.raw_data()), t.bytes());
  };
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         bytes(a) == bytes(b);
}

// "f32[64, 3]", and for another one of the same type how far it is off.
std::string DescribeOther(const Tensor& a, const Tensor& b) {
  const std::string type = b.TypeString();
  if (type != a.TypeString()) return type;
  const absl::StatusOr<Comparison> numbers = Compare(a, b, Tolerance());
  if (!numbers.ok()) return absl::StrCat(type, ", other bytes");
  return absl::StrCat(type, ", off by up to ",
                      HumanNumber(numbers->max_abs_err));
}

std::vector<Difference> CompareWeights(const ArtifactSet& a,
                                       const ArtifactSet& b) {
  const NamedTensors in_a = WeightsOf(a), in_b = WeightsOf(b);
  std::map<std::string, std::string> texts_a, texts_b;
  for (const auto& [name, tensor] : in_a) texts_a[name] = tensor.TypeString();
  for (const auto& [name, tensor] : in_b) {
    const auto other = in_a.find(name);
    const bool is_other =
        other != in_a.end() && !SameBytes(other->second, tensor);
    texts_b[name] =
        is_other ? DescribeOther(other->second, tensor) : tensor.TypeString();
  }
  return CompareTexts(texts_a, texts_b);
}

// Prints a table of them and adds them to `json`.
void Show(const std::string& title, const std::string& key,
          const std::vector<Difference>& differences,
          nlohmann::ordered_json* json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  Table table({title, "A", "B"});
  for (const Difference& d : differences) {
    const auto cell = [](const std::string& text) {
      return text.empty() ? "-" : Cut(OneLine(text), kShort);
    };
    table.Add({cell(d.name), cell(d.a), cell(d.b)});
    list.push_back({{"name", d.name}, {"a", d.a}, {"b", d.b}});
  }
  if (!differences.empty()) Print(absl::StrCat(table.ToString(), "\n"));
  (*json)[key] = std::move(list);
}

// The lines in which the text of one artifact differs.
absl::Status DiffArtifact(const ArtifactSet& a, const ArtifactSet& b,
                          const std::string& path, const Builtins& builtins) {
  std::vector<std::string> texts;
  for (const ArtifactSet* set : {&a, &b}) {
    const auto found = std::find_if(
        set->artifacts().begin(), set->artifacts().end(),
        [&path](const Artifact& each) { return ArtifactPath(each) == path; });
    if (found == set->artifacts().end()) {
      return absl::NotFoundError(absl::StrCat(
          "no artifact '", path, "' in ", set == &a ? "A" : "B",
          "; `ingot list` shows target key, codegen and file name"));
    }
    INGOT_ASSIGN_OR_RETURN(std::string text, Describe(*found, *set, builtins));
    texts.push_back(std::move(text));
  }
  const std::string diff = LineDiff(texts[0], texts[1]);
  if (diff.empty()) return absl::OkStatus();
  Print(Printable(absl::StrCat("--- A/", path, "\n+++ B/", path, "\n", diff)));
  return absl::FailedPreconditionError(absl::StrCat(path, " differs"));
}

absl::Status DiffSets(const ArtifactSet& a, const ArtifactSet& b, bool json) {
  const Plans plans_a(a), plans_b(b);
  struct Part {
    const char* title;
    const char* key;
    std::vector<Difference> differences;
  };
  const std::vector<Part> parts = {
      {"SET", "set",
       CompareTexts(FactsOf(a.provenance()), FactsOf(b.provenance()))},
      {"ARTIFACT", "artifacts", CompareArtifacts(a, b)},
      {"FUNCTION", "functions",
       CompareTexts(plans_a.Functions(), plans_b.Functions())},
      {"NODES", "nodes", CompareTexts(plans_a.Nodes(), plans_b.Nodes())},
      {"PLAN", "plan", ComparePlans(a, b)},
      {"WEIGHTS", "weights", CompareWeights(a, b)},
  };
  nlohmann::ordered_json object;
  std::vector<std::string> counts;
  for (const Part& part : parts) {
    Show(part.title, part.key, part.differences, &object);
    if (part.differences.empty()) continue;
    counts.push_back(absl::StrCat(part.differences.size(), " of ", part.key));
  }
  object["equal"] = counts.empty();
  if (json) PrintJson(std::move(object));
  if (counts.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("differences: ", absl::StrJoin(counts, ", ")));
}

}  // namespace

absl::Status RunDiff(Args args, const Backends& backends) {
  FlagSet flags(
      "diff", {"A", "B"},
      "Shows what differs between two sets: what they were made from and with, "
      "their artifacts, the functions\nthat runs call, which of them compute "
      "the model's nodes, plans and weights. Succeeds if nothing does.\n"
      "ingot explain --diff says why nodes are on other targets.");
  std::string artifact;
  flags.String("artifact", "PATH",
               "only that artifact, target key/codegen/file name, line by line",
               &artifact);
  bool json = false;
  flags.Bool("json", "end with one JSON object", &json);
  ReadOptions read;
  AddAcceptEdits(&flags, &read.accept_edits);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();
  if (json && !artifact.empty()) {
    return UsageError("--json is of the whole sets, --artifact of a part");
  }

  INGOT_ASSIGN_OR_RETURN(Builtins builtins, MakeBuiltins(backends));
  std::vector<ArtifactSet> sets;
  for (int i = 0; i < 2; ++i) {
    absl::StatusOr<ArtifactSet> set =
        OpenSet(flags.word(i), SetUse::kShow, builtins, read);
    if (!set.ok()) return Where(set.status(), flags.word(i));
    sets.push_back(*std::move(set));
  }
  const absl::Status different =
      artifact.empty() ? DiffSets(sets[0], sets[1], json)
                       : DiffArtifact(sets[0], sets[1], artifact, builtins);
  return Where(different, absl::StrCat(flags.word(0), " and ", flags.word(1)));
}

}  // namespace ingot
