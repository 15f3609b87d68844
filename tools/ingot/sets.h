// What the words MODEL, SET and SO stand for: from a path to an artifact set or
// to a loaded model.

#ifndef INGOT_TOOLS_INGOT_SETS_H_
#define INGOT_TOOLS_INGOT_SETS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "artifact/container.h"
#include "artifact/inspector.h"
#include "compiler/driver/compile.h"
#include "compiler/frontends/frontend.h"
#include "compiler/relay/ir.h"
#include "compiler/target/target.h"
#include "loaders/load.h"
#include "loaders/loader_registry.h"
#include "tools/ingot/backends.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/report.h"

namespace ingot {

// Everything that Ingot was built with.
struct Builtins {
  FrontendRegistry frontends;
  TargetRegistry targets;
  LoaderRegistry loaders;
  InspectorRegistry inspectors;
};

// Those that every program has, and those of `backends`. AlreadyExists for two
// of one name.
absl::StatusOr<Builtins> MakeBuiltins(const Backends& backends);

// How to compile a model.
struct CompileFlags {
  std::string target = "llvm";
  std::vector<std::string> input_shapes;
  std::vector<std::string> pins;
  std::string strict;
  int64_t opt_level = 2;

  // Values that become outputs too; no flag of its own.
  std::vector<std::string> extra_outputs;

  // Only `ingot compile` offers these.
  std::string symbol_prefix;
  std::string dump_ir;
  bool time_passes = false;
  // Print where the nodes went.
  bool show_placement = false;

  // Defines the flags that every subcommand that takes a model has.
  void AddTo(FlagSet* flags);
};

// The value of --target, its kinds and options checked. A bad one is a
// UsageError.
absl::StatusOr<std::vector<Target>> ParseTargetFlag(absl::string_view text,
                                                    const Builtins& builtins);

// The flags as options of the compiler. A bad one is a UsageError.
absl::StatusOr<CompileOptions> MakeCompileOptions(const CompileFlags& flags,
                                                  const Builtins& builtins);

// What a model was compiled from, for those who compare the two.
struct CompiledFrom {
  relay::Module module;                          // after all passes
  std::map<std::string, std::string> functions;  // symbol -> function
};

// Compiles the model file at `path`. A bad flag is a UsageError. With
// time_passes, prints where the time went. Fills `from` unless it is null.
absl::StatusOr<ArtifactSet> Compile(absl::string_view path,
                                    const CompileFlags& flags,
                                    const Builtins& builtins,
                                    Progress* progress,
                                    CompiledFrom* from = nullptr);

// Whether the file at `path` is a model: by its name, or because a frontend
// accepts what is in it.
bool IsModel(absl::string_view path, const FrontendRegistry& frontends);

// Says that an edited note changes nothing, and what would. For
// ReadOptions::on_edited_note.
void WarnOfEditedNote(absl::string_view note, absl::string_view artifact);

// What a set is opened for.
// The C compiler that the user names for the sources of every set, in
// $INGOT_CC; empty: each set's own choice, from linking's list.
std::string UsersCompiler();

enum class SetUse {
  kShow,   // a linked library will do, which lacks its native code
  kWhole,  // to make something of it
};

// The set at `path`: a .ingot file, a dumped directory, a file that is one
// artifact (loaders/bare_file.h) or, to show it, what a linked library carries,
// which is read without running anything of it. Warns of edited notes.
absl::StatusOr<ArtifactSet> OpenSet(absl::string_view path, SetUse use,
                                    const Builtins& builtins,
                                    ReadOptions options = {});

// How to open a model for running it.
struct OpenFlags {
  CompileFlags compile;
  bool check_digests = false;
  bool accept_edits = false;
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
};

// Loads what is at `path`: a set, a library, or a model, which is compiled
// first, into a temporary container that then takes the same way as any other.
// Says on stdout what had to be done. Fills `from`, unless it is null, when it
// compiles.
absl::StatusOr<OpenedModel> OpenModel(absl::string_view path,
                                      const OpenFlags& flags,
                                      const Builtins& builtins,
                                      Progress* progress,
                                      CompiledFrom* from = nullptr);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_SETS_H_
