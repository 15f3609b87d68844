#include "loaders/native/find_library.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/names.h"
#include "loaders/native/missing_library.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// The folders in which the C library of `family` keeps shared libraries, in
// order.
std::vector<std::string> LibraryFolders(const isa::MachineFamily& family) {
  std::vector<std::string> folders = {
      absl::StrCat("/lib/", family.gnu), absl::StrCat("/usr/lib/", family.gnu),
      // A cross compiler's packages install here.
      absl::StrCat("/usr/", family.gnu, "/lib")};
  if (&family == isa::HostFamily()) {
    folders.insert(folders.end(), {"/lib64", "/usr/lib64", "/lib", "/usr/lib",
                                   "/usr/local/lib"});
  }
  return folders;
}

absl::Status Missing(absl::string_view library,
                     const isa::MachineFamily& family) {
  if (&family == isa::HostFamily()) {
    return absl::FailedPreconditionError(MissingLibrary(library));
  }
  const absl::string_view name = SplitLinkLibrary(library).name;
  if (name == "m" || name == "c") {
    return absl::FailedPreconditionError(absl::StrCat(
        "the C library for ", family.name,
        " is not installed on this machine; Debian's package libc6-dev-",
        family.debian, "-cross has it"));
  }
  const std::string package(SplitLinkLibrary(library).package);
  return absl::FailedPreconditionError(absl::StrCat(
      "the library '", name, "' for ", family.name,
      " is not installed on this machine",
      package.empty() ? ""
                      : absl::StrCat("; Debian's package ", package, ":",
                                     family.debian, " has it")));
}

}  // namespace

absl::StatusOr<std::string> FindLibrary(absl::string_view library,
                                        const isa::MachineFamily& family) {
  const std::string name(SplitLinkLibrary(library).name);
  const bool is_file = absl::StrContains(name, ".so");
  const std::string stem = is_file ? name : absl::StrCat("lib", name, ".so");
  for (const std::string& folder : LibraryFolders(family)) {
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
      const std::string file = it->path().filename().string();
      // "libm.so" may be a linker script of the development package: prefer
      // the numbered one.
      if (is_file ? file == stem : absl::StartsWith(file, stem + ".")) {
        found.push_back(it->path().string());
      } else if (file == stem) {
        found.insert(found.begin(), it->path().string());
      }
    }
    if (!found.empty()) {
      std::sort(found.begin(), found.end(),
                [](const std::string& a, const std::string& b) {
                  return a.size() != b.size() ? a.size() < b.size() : a < b;
                });
      // Takes the second of "libm.so" and "libm.so.6", and the first, the
      // soname, of "libx.so.1" and "libx.so.1.2".
      return found.size() > 1 && absl::EndsWith(found[0], ".so") ? found[1]
                                                                 : found[0];
    }
  }
  return Missing(library, family);
}

}  // namespace ingot
