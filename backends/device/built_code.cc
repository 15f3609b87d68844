#include "backends/device/built_code.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "artifact/sha256.h"

namespace ingot::device {

BuiltCode::BuiltCode(absl::string_view code_file, absl::string_view code,
                     absl::string_view built_for)
    : lines_(absl::StrCat("ingot built code 1\n", built_for, "of ", code_file,
                          " ", Sha256Hex(code), "\n\n")) {
  const absl::string_view stem = code_file.substr(0, code_file.find('.'));
  file_name_ =
      absl::StrCat(stem, ".", Sha256Hex(lines_).substr(0, 12), ".built");
}

std::string BuiltCode::Write(absl::string_view binary) const {
  return absl::StrCat(lines_, binary);
}

std::optional<absl::string_view> BuiltCode::Read(
    absl::string_view artifact) const {
  if (!absl::ConsumePrefix(&artifact, lines_)) return std::nullopt;
  return artifact;
}

}  // namespace ingot::device
