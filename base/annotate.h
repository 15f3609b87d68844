// A failed Status, told together with the place where it happened.
#ifndef INGOT_BASE_ANNOTATE_H_
#define INGOT_BASE_ANNOTATE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ingot {

// Returns `status` with "`where`: " in front of its message. Code and payloads
// stay; an OK status is returned as it is.
absl::Status Annotate(const absl::Status& status, absl::string_view where);

}  // namespace ingot

#endif  // INGOT_BASE_ANNOTATE_H_
