#include "absl/strings/str_cat.h"
#include "artifact/main_header.h"
#include "base/replace_file.h"
#include "base/status_macros.h"
#include "compiler/codegen/llvm/assemble.h"
#include "loaders/native/linker.h"
#include "tools/ingot/compile_model.h"
#include "tools/ingot/compiler_commands.h"
#include "tools/ingot/files.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/output.h"
#include "tools/ingot/replace.h"
#include "tools/ingot/sets.h"

namespace ingot {
namespace {

absl::Status WriteHeader(const ArtifactSet& set, const std::string& path) {
  INGOT_ASSIGN_OR_RETURN(const Artifact* header, FindMainHeader(set));
  INGOT_ASSIGN_OR_RETURN(ReplaceFile file, ReplaceFile::Open(path));
  INGOT_RETURN_IF_ERROR(file.Append(header->content.view()));
  return file.Commit();
}

}  // namespace

absl::Status RunLink(Args args, const CompilerBackends& backends) {
  FlagSet flags("link", {"SET"},
                "Makes a set one shared library that needs no other file: the "
                "native code, and everything else in\na section of its own.");
  std::string output, header;
  ReadOptions read;
  flags.String("o", "OUT.so", "the file to write", &output);
  flags.Required();
  flags.String("header", "FILE.h",
               "also write the C header of the model's functions", &header);
  AddAcceptEdits(&flags, &read.accept_edits);
  std::vector<std::string> replacements;
  AddReplace(&flags, &replacements);
  SignatureFlags signature;
  signature.AddTo(&flags);
  LinkOptions options = UsersLinkOptions();
  flags.String("cc", "PROGRAM",
               "the C compiler for all sources, whatever they name "
               "themselves; default: $INGOT_CC, if it is set",
               &options.cc);
  bool quiet = false;
  flags.Bool("quiet", "say nothing when all goes well", &quiet);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();

  INGOT_RETURN_IF_ERROR(CheckWritable(output));
  INGOT_RETURN_IF_ERROR(CheckIsOther(output, flags.word(0)));
  // A library lives longer than this call, so check all that goes into it.
  read.check_all_digests = true;
  INGOT_ASSIGN_OR_RETURN(
      Builtins builtins,
      MakeBuiltins({backends.register_loaders, backends.register_inspectors,
                    backends.compiler}));
  absl::StatusOr<ArtifactSet> set =
      OpenSet(flags.word(0), SetUse::kWhole, builtins, read, signature);
  if (set.ok()) {
    set = Replace(*std::move(set), replacements, codegen::AssembleLlvm);
  }
  if (!set.ok()) return Where(set.status(), flags.word(0));
  if (!header.empty()) {
    if (absl::Status s = WriteHeader(*set, header); !s.ok()) {
      return Where(s, flags.word(0));
    }
  }
  if (absl::Status s = LinkLibrary(*set, output, options); !s.ok()) {
    return Where(s, flags.word(0));
  }
  if (!quiet) Print(absl::StrCat("linked ", OneLine(output), "\n"));
  return absl::OkStatus();
}

}  // namespace ingot
