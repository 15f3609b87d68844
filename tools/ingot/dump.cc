#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/directory.h"
#include "base/status_macros.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/describe.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/inspector_flags.h"
#include "tools/ingot/output.h"
#include "tools/ingot/sets.h"

namespace ingot {

absl::Status RunDump(Args args, const Backends& backends) {
  FlagSet flags("dump", {"SET"},
                "Writes a set as a directory: one file for each artifact and, "
                "beside those that are not text, what\ncan be said of them. "
                "ingot pack makes a set of it again.");
  std::string output;
  InspectorFlags own;
  flags.String("o", "DIR", "the folder: a new one, an empty one or a dump",
               &output);
  flags.Required();
  own.AddTo(&flags);
  ReadOptions read;
  AddAcceptEdits(&flags, &read.accept_edits);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();

  INGOT_ASSIGN_OR_RETURN(Builtins builtins, MakeBuiltins(backends));
  INGOT_RETURN_IF_ERROR(AddInspectors(own, &builtins));
  read.check_all_digests = true;
  EditedNotes edited;
  read.on_edited_note = edited.Keep();
  absl::StatusOr<ArtifactSet> set =
      OpenSet(flags.word(0), SetUse::kWhole, builtins, read);
  if (!set.ok()) return Where(set.status(), flags.word(0));
  for (const Artifact& artifact : set->artifacts()) {
    if (absl::Status s = CheckInspectors(artifact, builtins); !s.ok()) {
      return Where(s, flags.word(0));
    }
  }
  edited.Warn();
  absl::Status written = WriteDirectory(*set, output, builtins.inspectors);
  if (!written.ok()) return Where(written, output);
  Print(absl::StrCat(OneLine(output), ": ", set->artifacts().size(),
                     " artifacts\n"));
  return absl::OkStatus();
}

}  // namespace ingot
