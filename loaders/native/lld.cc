#include "loaders/native/lld.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "loaders/native/run_program.h"

namespace ingot {

absl::Status RunLld(std::vector<std::string> words, const std::string& folder) {
  const std::string program = words[0];
  absl::StatusOr<ProgramResult> result = RunProgram(std::move(words));
  if (absl::IsNotFound(result.status())) {
    return absl::NotFoundError(
        absl::StrCat("there is no linker '", program,
                     "'; install LLVM 19's LLD (Debian's package lld-19)"));
  }
  if (!result.ok()) return result.status();
  if (result->ok()) return absl::OkStatus();
  // LLD calls itself by the name that it was started with.
  const std::string name = program.substr(program.rfind('/') + 1);
  const std::string said = absl::StrReplaceAll(
      result->output,
      {{absl::StrCat(name, ": error: "), ""}, {folder + "/", ""}});
  if (result->signal != 0) {
    return absl::InternalError(absl::StrCat("the linker was ended by signal ",
                                            result->signal, "; ", said));
  }
  return absl::FailedPreconditionError(said);
}

absl::Status LinkSharedLibrary(const std::string& lld,
                               absl::Span<const std::string> inputs,
                               const std::string& version_script,
                               const std::string& folder,
                               const std::string& output) {
  std::vector<std::string> words = {
      lld.empty() ? kElfLld : lld, "-shared", "-z", "defs", "-z", "noexecstack",
      "-z", "relro", "-z", "now", "--hash-style=gnu", "--build-id=none",
      "-Bsymbolic", "--as-needed", "--threads=1",
      // Objects cannot name libraries: the provenance does.
      "--no-dependent-libraries", "--version-script", version_script, "-o",
      output};
  words.insert(words.end(), inputs.begin(), inputs.end());
  const absl::Status linked = RunLld(std::move(words), folder);
  if (!absl::IsNotFound(linked)) return linked;
  return absl::NotFoundError(absl::StrCat(
      linked.message(),
      " or name another LLD, for the ingot command in $INGOT_LLD"));
}

}  // namespace ingot
