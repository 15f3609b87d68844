#include "tools/ingot/describe.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "tools/ingot/start_compiler.h"

namespace ingot {
namespace {

// The start of bytes that nothing else can be said of.
std::string HexDump(absl::string_view bytes) {
  constexpr size_t kShown = 256, kRow = 16;
  std::string text;
  for (size_t i = 0; i < bytes.size() && i < kShown; i += kRow) {
    const absl::string_view row = bytes.substr(i, kRow);
    absl::StrAppendFormat(&text, "%08x ", i);
    for (const char c : row) {
      absl::StrAppendFormat(&text, " %02x", static_cast<unsigned char>(c));
    }
    text.append(3 * (kRow - row.size()) + 2, ' ');
    for (const char c : row) text += c >= 0x20 && c < 0x7F ? c : '.';
    text += '\n';
  }
  if (bytes.size() > kShown) {
    absl::StrAppend(&text, "... ", bytes.size() - kShown, " more bytes\n");
  }
  return text;
}

// Whether the bytes are lines for a person as they are.
bool IsText(absl::string_view bytes) {
  for (const char c : bytes) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    if (control && c != '\n' && c != '\t' && c != '\r') return false;
  }
  return !bytes.empty();
}

}  // namespace

absl::Status CheckInspectors(const Artifact& artifact,
                             const Builtins& builtins) {
  const absl::string_view bytes = artifact.content.view();
  if (builtins.compiler != nullptr || bytes.empty() || IsText(bytes) ||
      !builtins.inspectors.Find(artifact).empty()) {
    return absl::OkStatus();
  }
  return NeedsCompiler(absl::StrCat(ArtifactPath(artifact),
                                    " needs an inspector that this program "
                                    "has not"));
}

absl::StatusOr<std::string> Describe(const Artifact& artifact,
                                     const ArtifactSet& set,
                                     const Builtins& builtins) {
  INGOT_RETURN_IF_ERROR(CheckInspectors(artifact, builtins));
  std::string text;
  for (const InspectorRule* rule : builtins.inspectors.Find(artifact)) {
    absl::StatusOr<std::string> said = rule->inspect(artifact, set);
    absl::StrAppend(&text, said.ok() ? *said
                                     : absl::StrCat(rule->name, ": ",
                                                    said.status().message()));
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  if (!text.empty()) return text;
  // A backend whose form is text needs no inspector.
  const absl::string_view bytes = artifact.content.view();
  return IsText(bytes) ? std::string(bytes) : HexDump(bytes);
}

}  // namespace ingot
