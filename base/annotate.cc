#include "base/annotate.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace ingot {

absl::Status Annotate(const absl::Status& status, absl::string_view where) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(),
                         absl::StrCat(where, ": ", status.message()));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    annotated.SetPayload(url, payload);
  });
  return annotated;
}

}  // namespace ingot
