// The words MODEL, SET and SO: from a path to an artifact set or
// to a loaded model.

#ifndef INGOT_TOOLS_INGOT_SETS_H_
#define INGOT_TOOLS_INGOT_SETS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/artifact_set.h"
#include "artifact/container.h"
#include "artifact/inspector.h"
#include "loaders/load.h"
#include "loaders/loader_registry.h"
#include "tools/ingot/backends.h"
#include "tools/ingot/compile_flags.h"
#include "tools/ingot/compiler.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/output.h"
#include "tools/ingot/signature_flags.h"

namespace ingot {

// Everything that the program was built with.
struct Builtins {
  LoaderRegistry loaders;
  InspectorRegistry inspectors;
  Compiler* compiler = nullptr;  // null where another program has it
};

// The loaders that every program has, and those of `backends`. AlreadyExists
// for two of one name.
absl::StatusOr<Builtins> MakeBuiltins(const Backends& backends);

// Whether the file at `path` is a model: one of the compiler's formats, by its
// name or by what is in it. A program without a compiler knows no formats, and
// takes every file for a model that is neither a set, nor a library, nor one
// artifact for a loader that it has.
bool IsModel(absl::string_view path, const Builtins& builtins);

// Says that an edited note changes nothing, and what would. For
// ReadOptions::on_edited_note.
void WarnOfEditedNote(absl::string_view note, absl::string_view artifact);

// Keeps the edited notes that reading finds until it is clear that this program
// goes on: the one with the compiler would say them again.
class EditedNotes {
 public:
  // For ReadOptions::on_edited_note; this must outlive it.
  EditedNoteFn Keep();
  void Warn() const;

 private:
  std::vector<std::pair<std::string, std::string>> notes_;  // with artifacts
};

// UsageError for a set that would be named as a library: a program that opens
// it would be told that it is damaged.
absl::Status CheckSetName(absl::string_view output);

// The purpose that a set is opened for.
enum class SetUse {
  kShow,   // a linked library will do, which lacks its native code
  kWhole,  // to make something of it
};

// The set at `path`, signed if `signature` asks for it: a .ingot file, a dumped
// directory, a file that is one artifact (loaders/bare_file.h) or, to show it,
// what a linked library carries, which is read without running anything of it.
// Warns of edited notes, unless `options` have a function of their own for
// them.
absl::StatusOr<ArtifactSet> OpenSet(absl::string_view path, SetUse use,
                                    const Builtins& builtins,
                                    ReadOptions options = {},
                                    const SignatureFlags& signature = {});

// Adds --accept-edits, for every command that reads a directory.
void AddAcceptEdits(FlagSet* flags, bool* accept_edits);

// The flags that say how to open a model for running it.
struct OpenFlags {
  CompileFlags compile;
  bool check_digests = false;
  bool accept_edits = false;
  bool no_native = false;
  std::vector<std::string> replacements;  // Replace has them
  std::string variant;                    // LoadOptions has it
  SignatureFlags signature;
  // The threads that loaders should prepare for; each command has its own flag.
  int64_t threads = 1;

  void AddTo(FlagSet* flags);
};

struct OpenedModel {
  LoadedModel model;
  // Seconds; 0 for what was not needed. Loading counts neither of the others.
  double compile_seconds = 0;
  double link_seconds = 0;
  double load_seconds = 0;
  // As CompiledModel has it; null for what was not compiled here.
  std::function<std::unique_ptr<CallCheck>(const Tolerance&, Progress*)>
      check_calls;
};

// Loads what is at `path`: a set, a library, or a model, which is compiled
// first, into a temporary container that then takes the same way as any other.
// Says on stdout what had to be done. Without a compiler, NeedsCompiler for
// what must be compiled or linked first, and for a set of a loader that is not
// known.
absl::StatusOr<OpenedModel> OpenModel(absl::string_view path,
                                      const OpenFlags& flags,
                                      const Builtins& builtins,
                                      Progress* progress);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_SETS_H_
