#include "loaders/native/missing_library.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/names.h"

namespace ingot {

std::string MissingLibrary(absl::string_view library) {
  const NeededLibrary parts = SplitLinkLibrary(library);
  return absl::StrCat("the library '", parts.name,
                      "' that the set needs is not installed on this machine",
                      parts.package.empty() ? "" : "; Debian's package ",
                      parts.package, parts.package.empty() ? "" : " has it");
}

absl::Status ExplainOpening(const absl::Status& status,
                            const Provenance& provenance) {
  if (!absl::StrContains(status.message(), "cannot open shared object file")) {
    return status;
  }
  std::string message(status.message());
  for (const Provenance::TargetKey& key : provenance.target_keys()) {
    for (const std::string& needed : key.link_libraries()) {
      const NeededLibrary parts = SplitLinkLibrary(needed);
      // The system names the file, such as libopenblas.so.0.
      if (absl::StrContains(status.message(), parts.name)) {
        absl::StrAppend(&message, "; ", MissingLibrary(needed));
      }
    }
  }
  return absl::Status(status.code(), message);
}

}  // namespace ingot
