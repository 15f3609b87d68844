#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/describe.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/inspect_set.h"
#include "tools/ingot/inspector_flags.h"
#include "tools/ingot/json.h"
#include "tools/ingot/output.h"
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

// The view of a whole set that the flags ask for.
struct SetViews {
  bool sbom = false, functions = false, memory = false, json = false;
};

absl::Status ShowSet(const ArtifactSet& set, const SetViews& views,
                     const InspectorRegistry& inspectors) {
  if (views.sbom) {
    PrintJson(Sbom(set));
    return absl::OkStatus();
  }
  if (views.functions) {
    INGOT_ASSIGN_OR_RETURN(const std::string text, DescribeFunctions(set));
    Print(text);
  }
  if (views.memory) {
    INGOT_ASSIGN_OR_RETURN(const std::string text, DescribeMemory(set));
    Print(absl::StrCat(views.functions ? "\n" : "", text));
  }
  if (!views.functions && !views.memory) {
    Print(DescribeSet(set));
    for (const SetInspectorRule& rule : inspectors.for_sets()) {
      INGOT_ASSIGN_OR_RETURN(const std::string text, rule.inspect(set));
      // Text from a file must not control the terminal.
      Print(absl::StrCat("\n", Printable(text)));
    }
  }
  if (views.json) {
    INGOT_ASSIGN_OR_RETURN(const nlohmann::ordered_json json, SetAsJson(set));
    PrintJson(json);
  }
  return absl::OkStatus();
}

absl::Status ShowArtifact(const ArtifactSet& set, const std::string& name,
                          const Builtins& builtins, const EditedNotes& edited) {
  const std::vector<const Artifact*> found = FindArtifacts(set, name);
  if (found.size() == 1) {
    INGOT_ASSIGN_OR_RETURN(const std::string text,
                           Describe(*found[0], set, builtins));
    edited.Warn();
    Print(Printable(text));
    return absl::OkStatus();
  }
  edited.Warn();
  if (found.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", name, "' may be any of ", ListPaths(found)));
  }
  std::vector<const Artifact*> all;
  for (const Artifact& artifact : set.artifacts()) all.push_back(&artifact);
  return absl::NotFoundError(
      absl::StrCat("has no artifact '", name, "'; it has ", ListPaths(all)));
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
  SetViews views;
  flags.Bool("functions",
             "the functions that run: target, code, weights, types, nodes",
             &views.functions);
  flags.Bool("memory", "how much storage is in use at each call",
             &views.memory);
  flags.Bool("sbom", "a bill of materials: CycloneDX, as JSON", &views.sbom);
  flags.Bool("json", "end with one JSON object that has all of it",
             &views.json);
  AddAcceptEdits(&flags, &read.accept_edits);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();

  INGOT_ASSIGN_OR_RETURN(Builtins builtins, MakeBuiltins(backends));
  INGOT_RETURN_IF_ERROR(AddInspectors(own, &builtins));
  EditedNotes edited;
  read.on_edited_note = edited.Keep();
  const std::string& path = flags.word(0);
  absl::StatusOr<ArtifactSet> set =
      OpenSet(path, SetUse::kShow, builtins, read);
  if (!set.ok()) return Where(set.status(), path);
  if (name.empty()) {
    edited.Warn();
    absl::Status shown = ShowSet(*set, views, builtins.inspectors);
    return shown.ok() ? shown : Where(shown, path);
  }
  if (views.sbom || views.functions || views.memory || views.json) {
    return UsageError(
        "--sbom, --functions, --memory and --json are of the whole set, "
        "--artifact of a part");
  }
  absl::Status shown = ShowArtifact(*set, name, builtins, edited);
  return shown.ok() ? shown : Where(shown, path);
}

}  // namespace ingot
