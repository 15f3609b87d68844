#ifndef INGOT_COMPILER_CODEGEN_C_VECTOR_NAME_H_
#define INGOT_COMPILER_CODEGEN_C_VECTOR_NAME_H_

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace ingot::codegen {

// The name of a vector type in C, and what it says: "f32x8".
struct VectorName {
  explicit VectorName(absl::string_view text) : name(text) {
    const std::vector<absl::string_view> parts = absl::StrSplit(text, 'x');
    element = std::string(parts[0]);
    int bits = 0;
    const bool ok = absl::SimpleAtoi(parts[1], &lanes) &&
                    absl::SimpleAtoi(parts[0].substr(1), &bits);
    bytes = ok ? bits / 8 * lanes : 0;
    mask = absl::StrCat("i", bits, "x", lanes);
    const bool is_float = element[0] == 'f';
    c = is_float
            ? (bits == 64 ? "double" : "float")
            : absl::StrCat(element[0] == 'u' ? "u" : "", "int", bits, "_t");
  }
  // A value with `lane` in each lane.
  std::string All(absl::string_view lane) const {
    return absl::StrCat(
        "(", name, "){",
        absl::StrJoin(std::vector<absl::string_view>(lanes, lane), ", "), "}");
  }

  std::string name, element, mask;
  std::string c;  // the element's type
  int lanes = 0, bytes = 0;
};

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_C_VECTOR_NAME_H_
