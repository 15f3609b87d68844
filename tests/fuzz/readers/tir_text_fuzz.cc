// Loops in text form.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/tir/parser.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/verifier.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {

std::vector<std::string> Seeds() {
  return {
      R"(func @f(%a: f32[n, 64]) -> (%b: f32[n * 64]) {
  for i in [0, n) {
    for jo in [0, 8) {
      for ji in [0, 8) {
        if jo * 8 + ji < 64 {
          %b[i * 64 + (jo * 8 + ji)] = %a[(i * 64 + jo) // 64, ji % 64]
        }
      }
    }
  }
})",
      R"(func @g(%a: f32[n]) -> (%b: f32[n]) {
  for i in [0, n) {
    if i < n { %b[i] = 1.0f } else { %b[i] = 2.0f }
    for j in [i, +1) { %b[j] = %a[j] }
    let c: i64 = i
    %b[c] = select(c >= 0, %a[c], 0.0f)
    eval %a[0]
  }
})",
  };
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  const absl::StatusOr<tir::PrimFunc> func = tir::Parse(bytes);
  if (!func.ok()) return false;
  tir::Verify(*func).IgnoreError();
  const std::string text = tir::Print(*func);
  const absl::StatusOr<tir::PrimFunc> again = tir::Parse(text);
  if (!again.ok()) {
    return absl::InternalError(absl::StrCat(
        "printed, it does not read: ", again.status().message(), "\n", text));
  }
  if (tir::Print(*again) != text) {
    return absl::InternalError(
        absl::StrCat("printed and read, it is another function:\n", text));
  }
  return true;
}

}  // namespace ingot::fuzz
