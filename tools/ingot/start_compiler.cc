#include "tools/ingot/start_compiler.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

constexpr char kPayload[] = "ingot/needs-compiler";
constexpr char kVariable[] = "INGOT_COMPILER";
constexpr char kThisProgram[] = "/proc/self/exe";

// Whether both paths lead to one file.
bool IsSameFile(const char* a, const char* b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

bool IsProgram(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

}  // namespace

absl::Status NeedsCompiler(absl::string_view why) {
  absl::Status status = absl::UnavailableError(why);
  status.SetPayload(kPayload, absl::Cord());
  return status;
}

bool IsNeedsCompiler(const absl::Status& status) {
  return status.GetPayload(kPayload).has_value();
}

absl::StatusOr<std::string> FindCompiler(absl::string_view name) {
  const char* const given = std::getenv(kVariable);
  if (given != nullptr && *given != '\0') {
    // It would start itself for ever.
    if (IsSameFile(given, kThisProgram)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "$", kVariable, " names this program, which has no compiler"));
    }
    if (IsProgram(given)) return std::string(given);
    return absl::NotFoundError(
        absl::StrCat("$", kVariable, " is ", given, ", which is no program"));
  }
  std::error_code error;
  const std::filesystem::path self =
      std::filesystem::read_symlink(kThisProgram, error);
  const std::string path = (self.parent_path() / std::string(name)).string();
  if (!error && IsProgram(path)) return path;
  return absl::NotFoundError(absl::StrCat(
      "there is no ", path,
      ", the program with the compiler; put it there or name it in $",
      kVariable));
}

absl::Status StartCompiler(absl::string_view name, char** argv) {
  INGOT_ASSIGN_OR_RETURN(std::string path, FindCompiler(name));
  execv(path.c_str(), argv);
  return absl::FailedPreconditionError(
      absl::StrCat("starting ", path, ": ", strerror(errno)));
}

}  // namespace ingot
