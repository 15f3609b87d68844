#include "backends/device/built_code.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "artifact/sha256.h"

namespace ingot::device {
namespace {

// The last lines before the driver's bytes.
std::string DigestOf(absl::string_view binary) {
  return absl::StrCat("with ", Sha256Hex(binary), "\n\n");
}

}  // namespace

BuiltCode::BuiltCode(absl::string_view code_file, absl::string_view code,
                     absl::string_view built_for)
    : lines_(absl::StrCat("ingot built code 2\n", built_for, "of ", code_file,
                          " ", Sha256Hex(code), "\n")) {
  const absl::string_view stem = code_file.substr(0, code_file.find('.'));
  file_name_ =
      absl::StrCat(stem, ".", Sha256Hex(lines_).substr(0, 12), ".built");
}

std::string BuiltCode::Write(absl::string_view binary) const {
  return absl::StrCat(lines_, DigestOf(binary), binary);
}

std::optional<absl::string_view> BuiltCode::Read(
    absl::string_view artifact) const {
  if (!absl::ConsumePrefix(&artifact, lines_)) return std::nullopt;
  const size_t end = artifact.find("\n\n");
  if (end == absl::string_view::npos) return std::nullopt;
  const absl::string_view binary = artifact.substr(end + 2);
  if (artifact.substr(0, end + 2) != DigestOf(binary)) return std::nullopt;
  return binary;
}

}  // namespace ingot::device
