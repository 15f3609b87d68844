#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "artifact/edits.h"
#include "artifact/sha256.h"
#include "base/status_macros.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/json.h"
#include "tools/ingot/output.h"
#include "tools/ingot/sets.h"

namespace ingot {

absl::Status RunList(Args args, const Backends& backends) {
  FlagSet flags("list", {"SET"},
                "Shows the artifacts of a set: which target each is for, what "
                "made it and what loads it,\nand which are not as they were "
                "compiled.");
  bool json = false;
  flags.Bool("json", "end with one JSON object, with whole digests", &json);
  ReadOptions read;
  AddAcceptEdits(&flags, &read.accept_edits);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();

  INGOT_ASSIGN_OR_RETURN(Builtins builtins, MakeBuiltins(backends));
  absl::StatusOr<ArtifactSet> set =
      OpenSet(flags.word(0), SetUse::kShow, builtins, read);
  if (!set.ok()) return Where(set.status(), flags.word(0));
  const std::set<std::string> edited = EditedPaths(set->provenance());
  std::vector<std::string> header = {"TARGET", "CODEGEN", "LOADER",
                                     "FILE",   ">SIZE",   "SHA-256"};
  if (!edited.empty()) header.push_back("EDITED");
  Table table(header);
  nlohmann::ordered_json artifacts = nlohmann::ordered_json::array();
  std::set<std::string> elsewhere = edited;
  for (const Artifact& artifact : set->artifacts()) {
    const std::string digest = Sha256Hex(artifact.content.view());
    elsewhere.erase(ArtifactPath(artifact));
    const bool is_edited = edited.count(ArtifactPath(artifact)) > 0;
    std::vector<std::string> row = {artifact.target_key,
                                    artifact.codegen_id,
                                    artifact.loader,
                                    artifact.file_name,
                                    HumanSize(artifact.content.size()),
                                    digest.substr(0, 16)};
    if (!edited.empty()) row.push_back(is_edited ? "edited" : "");
    table.Add(std::move(row));
    artifacts.push_back({{"target_key", artifact.target_key},
                         {"codegen_id", artifact.codegen_id},
                         {"loader", artifact.loader},
                         {"file_name", artifact.file_name},
                         {"size", artifact.content.size()},
                         {"sha256", digest},
                         {"edited", is_edited}});
  }
  // Code that a library was linked from, or what somebody left out.
  for (const std::string& path : elsewhere) {
    std::vector<std::string> row = absl::StrSplit(path, '/');
    row.resize(header.size(), "-");
    std::swap(row[2], row[3]);  // the loader is not known
    row.back() = "edited";
    table.Add(std::move(row));
  }
  Print(table.ToString());
  if (json) {
    PrintJson({{"artifacts", std::move(artifacts)}, {"edited", edited}});
  }
  return absl::OkStatus();
}

}  // namespace ingot
