#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "runtime/data_type.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/plan.pb.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/describe.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/inspector_flags.h"
#include "tools/ingot/json.h"
#include "tools/ingot/output.h"
#include "tools/ingot/plans.h"
#include "tools/ingot/sbom.h"
#include "tools/ingot/sets.h"

namespace ingot {
namespace {

// The artifacts whose path ends in `name`, at the start of a component.
std::vector<const Artifact*> FindArtifacts(const ArtifactSet& set,
                                           absl::string_view name) {
  std::vector<const Artifact*> found;
  for (const Artifact& artifact : set.artifacts()) {
    const std::string path = ArtifactPath(artifact);
    if (path == name || absl::EndsWith(path, absl::StrCat("/", name))) {
      found.push_back(&artifact);
    }
  }
  return found;
}

std::string ListPaths(absl::Span<const Artifact* const> artifacts) {
  return absl::StrJoin(artifacts, ", ",
                       [](std::string* out, const Artifact* artifact) {
                         absl::StrAppend(out, ArtifactPath(*artifact));
                       });
}

// "f32[N, 3]", of a plan that may come from anywhere.
std::string TypeText(const Plan& plan, uint32_t index) {
  if (index >= static_cast<uint32_t>(plan.tensors_size())) return "?";
  const PlanTensor& tensor = plan.tensors(static_cast<int>(index));
  DataType type;
  type.code = static_cast<uint8_t>(tensor.dtype().code());
  type.bits = static_cast<uint8_t>(tensor.dtype().bits());
  if (tensor.is_sequence())
    return absl::StrCat("sequence<", type.ToString(), ">");
  const std::vector<std::string> symbols = SymbolNames(plan);
  std::vector<std::string> dims;
  for (const DimExpr& dim : tensor.shape()) {
    const bool good = CheckDimExpr(dim, plan.symbols_size()).ok();
    dims.push_back(good ? DimExprToString(dim, symbols) : "?");
  }
  return absl::StrCat(type.ToString(), "[", absl::StrJoin(dims, ", "), "]");
}

// Adds the model's inputs and outputs, if the set has a plan.
void AddInterface(const ArtifactSet& set, Table* table) {
  for (const Plan& plan : ReadPlans(set)) {
    const auto add = [&](absl::string_view title, const auto& indices) {
      for (const uint32_t index : indices) {
        const bool known = index < static_cast<uint32_t>(plan.tensors_size());
        const std::string name =
            known ? plan.tensors(static_cast<int>(index)).name() : "?";
        table->Add({std::string(title),
                    absl::StrCat(name, ": ", TypeText(plan, index))});
      }
    };
    add("input", plan.inputs());
    add("output", plan.outputs());
    table->Add({"kernel calls", absl::StrCat(plan.calls_size())});
    // Variants are of one model.
    if (!set.provenance().variants().empty()) return;
  }
}

std::string DescribeSet(const ArtifactSet& set) {
  const Provenance& provenance = set.provenance();
  // A set that a person made of one file knows nothing of this.
  const bool is_compiled = !provenance.ingot_version().empty();
  Table facts({is_compiled ? "model" : "artifacts",
               is_compiled ? provenance.model_name()
                           : absl::StrCat(set.artifacts().size())});
  const auto add = [&](absl::string_view title, absl::string_view value) {
    if (!value.empty()) facts.Add({std::string(title), std::string(value)});
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
  add("symbols start with", provenance.symbol_prefix());
  for (const Provenance::Option& option : provenance.options()) {
    facts.Add({absl::StrCat("option ", option.name()), option.value()});
  }
  AddInterface(set, &facts);

  Table artifacts({"ARTIFACT", "LOADER", ">SIZE"});
  for (const Artifact& artifact : set.artifacts()) {
    artifacts.Add({ArtifactPath(artifact), artifact.loader,
                   HumanSize(artifact.content.size())});
  }
  return absl::StrCat(facts.ToString(), "\n", artifacts.ToString());
}

}  // namespace

absl::Status RunInspect(Args args, const Backends& backends) {
  FlagSet flags("inspect", {"SET"},
                "Shows what a set is: what it was made from, what it needs, "
                "what the model takes and gives. Or, of\none artifact, text "
                "for a person: a disassembly, a table of weights, the source.");
  std::string name;
  InspectorFlags own;
  ReadOptions read;
  flags.String("artifact", "NAME",
               "the artifact: a file name, or the end of its path as shown",
               &name);
  own.AddTo(&flags);
  bool sbom = false;
  flags.Bool("sbom", "a bill of materials: CycloneDX, as JSON", &sbom);
  AddAcceptEdits(&flags, &read.accept_edits);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();

  INGOT_ASSIGN_OR_RETURN(Builtins builtins, MakeBuiltins(backends));
  INGOT_ASSIGN_OR_RETURN(const std::vector<InspectorCommand> for_sets,
                         AddInspectors(own, &builtins));
  EditedNotes edited;
  read.on_edited_note = edited.Keep();
  absl::StatusOr<ArtifactSet> set =
      OpenSet(flags.word(0), SetUse::kShow, builtins, read);
  if (!set.ok()) return Where(set.status(), flags.word(0));
  if (sbom && !name.empty()) {
    return UsageError("--sbom is of the whole set, --artifact of a part");
  }
  if (name.empty()) {
    edited.Warn();
    if (sbom) {
      PrintJson(Sbom(*set));
      return absl::OkStatus();
    }
    Print(DescribeSet(*set));
    for (const InspectorCommand& command : for_sets) {
      absl::StatusOr<std::string> text = InspectSet(*set, command);
      if (!text.ok()) return Where(text.status(), flags.word(0));
      Print(absl::StrCat("\n", Printable(*text)));
    }
    return absl::OkStatus();
  }
  const std::vector<const Artifact*> found = FindArtifacts(*set, name);
  if (found.size() == 1) {
    absl::StatusOr<std::string> text = Describe(*found[0], builtins);
    if (!text.ok()) return Where(text.status(), flags.word(0));
    edited.Warn();
    // Text from a file must not control the terminal.
    Print(Printable(*text));
    return absl::OkStatus();
  }
  edited.Warn();
  if (found.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        flags.word(0), ": '", name, "' may be any of ", ListPaths(found)));
  }
  std::vector<const Artifact*> all;
  for (const Artifact& artifact : set->artifacts()) all.push_back(&artifact);
  return absl::NotFoundError(absl::StrCat(flags.word(0), ": has no artifact '",
                                          name, "'; it has ", ListPaths(all)));
}

}  // namespace ingot
