// JSON laid out for a person. Private to this folder.
#ifndef INGOT_ARTIFACT_JSON_TEXT_H_
#define INGOT_ARTIFACT_JSON_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// The JSON in `text` with what fits into 100 columns on one line: an object, an
// array, or as many numbers and names in a row as there is room for. Members
// keep their order and numbers are as written. InvalidArgument for what is not
// JSON or nests deeper than 200 levels.
absl::StatusOr<std::string> LayOutJson(absl::string_view text);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_JSON_TEXT_H_
