#include "compiler/frontends/frontend.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ingot {

absl::Status FrontendRegistry::Register(Frontend frontend) {
  if (frontend.name.empty() || frontend.suffix.empty() ||
      frontend.looks_for.empty() || frontend.accepts == nullptr ||
      frontend.import == nullptr || frontend.list_values == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("frontend '", frontend.name, "' is not whole"));
  }
  for (const Frontend& other : frontends_) {
    if (other.name == frontend.name || other.suffix == frontend.suffix) {
      return absl::AlreadyExistsError(
          absl::StrCat("frontend '", frontend.name, "' for ", frontend.suffix,
                       ": there is '", other.name, "' for ", other.suffix));
    }
  }
  frontends_.push_back(std::move(frontend));
  return absl::OkStatus();
}

absl::StatusOr<const Frontend*> FrontendRegistry::Find(
    absl::string_view bytes) const {
  for (const Frontend& frontend : frontends_) {
    if (frontend.accepts(bytes)) return &frontend;
  }
  if (frontends_.empty()) {
    return absl::InvalidArgumentError(
        "no frontend is built in, so no model can be read");
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no frontend reads it: ",
      absl::StrJoin(frontends_, ", ", [](std::string* out, const Frontend& f) {
        absl::StrAppend(out, f.name, " looks for ", f.looks_for);
      })));
}

bool FrontendRegistry::HasSuffix(absl::string_view path) const {
  for (const Frontend& frontend : frontends_) {
    if (absl::EndsWithIgnoreCase(path, frontend.suffix)) return true;
  }
  return false;
}

}  // namespace ingot
