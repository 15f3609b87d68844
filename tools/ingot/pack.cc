#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/container.h"
#include "artifact/directory.h"
#include "base/status_macros.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/output.h"
#include "tools/ingot/replace.h"
#include "tools/ingot/sets.h"

namespace ingot {

absl::Status RunPack(Args args, const Backends& backends) {
  FlagSet flags("pack", {"DIR"},
                "Makes a set of a dumped directory again. Files that were "
                "edited are taken only when asked to.");
  std::string output;
  ReadOptions read;
  flags.String("o", "OUT.ingot", "the file to write", &output);
  flags.Required();
  AddAcceptEdits(&flags, &read.accept_edits);
  std::vector<std::string> replacements;
  AddReplace(&flags, &replacements);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();
  INGOT_RETURN_IF_ERROR(CheckSetName(output));

  INGOT_ASSIGN_OR_RETURN(const Builtins builtins, MakeBuiltins(backends));
  read.on_edited_note = WarnOfEditedNote;
  absl::StatusOr<ArtifactSet> set =
      ReadDirectory(flags.word(0), read, &builtins.inspectors);
  if (!set.ok()) {
    return Where(set.status(), flags.word(0));
  }
  set = Replace(*std::move(set), replacements, AssembleWith(backends.compiler));
  if (!set.ok()) return Where(set.status(), flags.word(0));
  if (absl::Status s = WriteContainer(*set, output); !s.ok()) {
    return Where(s, output);
  }
  Print(absl::StrCat(OneLine(output), ": ", set->artifacts().size(),
                     " artifacts\n"));
  return absl::OkStatus();
}

}  // namespace ingot
