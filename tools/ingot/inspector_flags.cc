#include "tools/ingot/inspector_flags.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "artifact/blob.h"
#include "artifact/directory.h"
#include "base/status_macros.h"
#include "loaders/native/files.h"
#include "loaders/native/run_program.h"
#include "loaders/text_lines.h"
#include "tools/ingot/start_compiler.h"

namespace ingot {
namespace {

constexpr size_t kMostText = 16 << 20;

absl::StatusOr<std::string> Run(InspectorCommand command,
                                const std::string& path) {
  const std::string shown = absl::StrJoin(command, " ");
  command.push_back(path);
  ProgramOptions options;
  options.most_output = kMostText;
  options.ends_at_most = true;
  options.with_errors = false;
  INGOT_ASSIGN_OR_RETURN(const ProgramResult result,
                         RunProgram(std::move(command), options));
  if (result.output.size() > kMostText) {
    return absl::ResourceExhaustedError(
        absl::StrCat(shown, " wrote more than 16 MiB"));
  }
  if (result.ok()) return result.output;
  return absl::UnknownError(absl::StrCat(
      shown, result.signal != 0
                 ? absl::StrCat(" was ended by signal ", result.signal)
                 : absl::StrCat(" ended with status ", result.exit_status)));
}

absl::StatusOr<std::string> InspectArtifact(const Artifact& artifact,
                                            const InspectorCommand& command) {
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<ScratchFolder> folder,
                         ScratchFolder::Make());
  // A file's name may have folders in it.
  const std::string path = absl::StrCat(
      folder->path(), "/",
      std::filesystem::path(artifact.file_name).filename().string());
  INGOT_RETURN_IF_ERROR(WriteScratchFile(path, artifact.content.view()));
  return Run(command, path);
}

// The end of the name of a note: ".show_npu.txt" of "tools/show_npu.py".
std::string SuffixFor(const InspectorCommand& command) {
  constexpr size_t kMost = 30;
  std::string stem = std::filesystem::path(command[0]).stem().string();
  std::replace_if(
      stem.begin(), stem.end(),
      [](char c) { return !absl::ascii_isalnum(c) && c != '_' && c != '-'; },
      '_');
  return absl::StrCat(".", stem.substr(0, kMost), ".txt");
}

// The command gets the path of a folder with the set, without notes.
absl::StatusOr<std::string> InspectSet(const ArtifactSet& set,
                                       const InspectorCommand& command) {
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<ScratchFolder> folder,
                         ScratchFolder::Make());
  INGOT_RETURN_IF_ERROR(
      WriteDirectory(set, folder->path(), InspectorRegistry()));
  return Run(command, folder->path());
}

absl::Status Add(absl::string_view pattern, InspectorCommand command,
                 InspectorRegistry* inspectors) {
  if (pattern.empty() || command.empty()) {
    return UsageError(
        "an inspector is PATTERN=COMMAND, such as .npu=./show, or in a file "
        "PATTERN COMMAND");
  }
  const std::string name =
      absl::StrCat(pattern, " ", absl::StrJoin(command, " "));
  if (pattern == "set") {
    return inspectors->RegisterForSets(
        {name, [command = std::move(command)](const ArtifactSet& set) {
           return InspectSet(set, command);
         }});
  }
  InspectorRule rule;
  rule.name = name;
  if (absl::ConsumePrefix(&pattern, "loader:")) {
    rule.loader = std::string(pattern);
  } else if (absl::ConsumePrefix(&pattern, "codegen:")) {
    rule.codegen_id = std::string(pattern);
  } else {
    rule.file_suffixes = {std::string(pattern)};
  }
  rule.output_suffix = SuffixFor(command);
  rule.inspect = [command = std::move(command)](const Artifact& artifact,
                                                const ArtifactSet&) {
    return InspectArtifact(artifact, command);
  };
  return inspectors->Register(std::move(rule));
}

}  // namespace

void InspectorFlags::AddTo(FlagSet* flags) {
  flags->Strings("backend", "PROGRAM", "a program with inspectors of its own",
                 &backends);
  flags->Strings("inspector", "PATTERN=COMMAND",
                 "a command that shows artifacts whose names end so (.npu), or "
                 "loader:NAME, codegen:NAME, or the whole set",
                 &commands);
  flags->String("inspectors", "FILE",
                "the same of a file: a line for each, PATTERN COMMAND", &file);
}

absl::Status AddInspectors(const InspectorFlags& flags, Builtins* builtins) {
  for (const std::string& flag : flags.commands) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(flag, absl::MaxSplits('=', 1));
    INGOT_RETURN_IF_ERROR(Add(
        parts.first,
        absl::StrSplit(parts.second, absl::ByAnyChar(" \t"), absl::SkipEmpty()),
        &builtins->inspectors));
  }
  if (!flags.file.empty()) {
    INGOT_ASSIGN_OR_RETURN(const Blob text, Blob::MapFile(flags.file));
    const absl::Status read = ReadLines(text.view(), [&](Words words) {
      return Add(words[0], {words.begin() + 1, words.end()},
                 &builtins->inspectors);
    });
    if (!read.ok()) {
      return UsageError(absl::StrCat(flags.file, ": ", read.message()));
    }
  }
  if (flags.backends.empty()) return absl::OkStatus();
  if (builtins->compiler == nullptr) return NeedsCompiler("--backend");
  return builtins->compiler->AddInspectors(flags.backends,
                                           &builtins->inspectors);
}

}  // namespace ingot
