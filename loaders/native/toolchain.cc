#include "loaders/native/toolchain.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "loaders/native/run_program.h"

namespace ingot {

absl::Status CompileC(const std::string& cc,
                      absl::Span<const std::string> flags,
                      const std::string& dir, const std::string& source,
                      const std::string& object) {
  // posix_spawn cannot change the folder in this glibc's stable interface, so a
  // shell does; every word is passed as an argument, none is evaluated.
  std::vector<std::string> words = {"/bin/sh", "-c",
                                    "cd -- \"$0\" && exec \"$@\"", dir, cc};
  for (const std::string& flag : flags) words.push_back(flag);
  for (absl::string_view word : {"-fPIC", "-g0", "-w", "-c", "-o"}) {
    words.push_back(std::string(word));
  }
  // In front of a name from the set, "./" keeps it from being an option.
  words.push_back(absl::StrCat("./", object));
  words.push_back(absl::StrCat("./", source));
  INGOT_ASSIGN_OR_RETURN(ProgramResult result, RunProgram(std::move(words)));
  if (result.ok()) return absl::OkStatus();
  // The shell's word for a program that is not there.
  if (result.exit_status == 127) {
    return absl::NotFoundError(
        absl::StrCat("there is no C compiler '", cc,
                     "'; install it or name another, by `ingot link --cc`, "
                     "$INGOT_CC or the target's -cc"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat(cc, " refuses ", source, ":\n", result.output));
}

}  // namespace ingot
