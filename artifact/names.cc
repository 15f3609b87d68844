#include "artifact/names.h"

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact.h"
#include "artifact/provenance.pb.h"
#include "base/status_macros.h"
#include "base/utf8.h"

namespace ingot {
namespace {

// Enough of a name to find it, whatever its length and bytes.
std::string Quoted(absl::string_view name) {
  constexpr size_t kShown = 80;
  return absl::StrCat("\"", absl::CHexEscape(name.substr(0, kShown)),
                      name.size() > kShown ? "...\"" : "\"");
}

absl::Status Bad(absl::string_view what, absl::string_view name,
                 absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " ", Quoted(name), " ", why));
}

bool IsIdentifierChar(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
}

absl::Status CheckUtf8(absl::string_view what, absl::string_view text) {
  return IsUtf8(text) ? absl::OkStatus() : Bad(what, text, "is not UTF-8");
}

absl::Status CheckText(absl::string_view what, absl::string_view text) {
  for (const char c : text) {
    if (absl::ascii_iscntrl(c)) {
      return Bad(what, text, "holds a control character");
    }
  }
  return CheckUtf8(what, text);
}

absl::Status CheckSymbolPrefix(absl::string_view prefix) {
  for (size_t i = 0; i < prefix.size(); ++i) {
    const char c = prefix[i];
    const bool letter = absl::ascii_isalpha(c) || c == '_';
    if (!letter && (i == 0 || !absl::ascii_isdigit(c))) {
      return Bad("the symbol prefix", prefix, "is not a C identifier");
    }
  }
  if (prefix.size() > kMaxIdentifierLength) {
    return Bad("the symbol prefix", prefix, "is too long");
  }
  return absl::OkStatus();
}

absl::Status CheckVariants(const Provenance& provenance) {
  absl::flat_hash_set<std::string> seen = {kDefaultTargetKey};
  for (const Provenance::Variant& variant : provenance.variants()) {
    INGOT_RETURN_IF_ERROR(CheckVariantName(variant.name()));
    if (!seen.insert(variant.name()).second) {
      return Bad("the variant", variant.name(), "is described twice");
    }
    INGOT_RETURN_IF_ERROR(CheckText("the target", variant.target()));
    for (const Provenance::Option& option : variant.options()) {
      INGOT_RETURN_IF_ERROR(CheckText("the option", option.name()));
      INGOT_RETURN_IF_ERROR(CheckText("the option's value", option.value()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLinkLibrary(absl::string_view name) {
  constexpr absl::string_view kWhat = "the link library";
  if (name.empty() || name.size() > kMaxIdentifierLength) {
    return Bad(kWhat, name,
               absl::StrCat("must have 1 to ", kMaxIdentifierLength, " bytes"));
  }
  if (name[0] == '-' || name[0] == '.') {
    return Bad(kWhat, name, "must not start with \"-\" or \".\"");
  }
  const NeededLibrary parts = SplitLinkLibrary(name);
  for (const char c : absl::StrCat(parts.name, parts.package)) {
    if (!IsIdentifierChar(c) && c != '+') {
      return Bad(kWhat, name,
                 "must be a name of [A-Za-z0-9_.+-], not a path or a flag; a "
                 "package may follow after a colon");
    }
  }
  if (!parts.name.empty()) return absl::OkStatus();
  return Bad(kWhat, name, "must have a name in front of the colon");
}

}  // namespace

absl::Status CheckIdentifier(absl::string_view what, absl::string_view name) {
  if (name.empty()) return Bad(what, name, "must not be empty");
  if (name.size() > kMaxIdentifierLength) {
    return Bad(what, name,
               absl::StrCat("is longer than ", kMaxIdentifierLength, " bytes"));
  }
  for (const char c : name) {
    if (!IsIdentifierChar(c)) {
      return Bad(what, name, "must consist of [A-Za-z0-9_.-]");
    }
  }
  if (name.front() == '.' || name.back() == '.') {
    return Bad(what, name, "must not start or end with a dot");
  }
  // A path that starts with it would be an option to some program.
  if (name.front() == '-') return Bad(what, name, "must not start with \"-\"");
  return absl::OkStatus();
}

absl::Status CheckTargetKey(absl::string_view name) {
  constexpr absl::string_view kWhat = "the target key";
  if (absl::EqualsIgnoreCase(name, "manifest.json")) {
    return Bad(kWhat, name, "is what a directory calls its manifest");
  }
  return CheckIdentifier(kWhat, name);
}

absl::Status CheckVariantName(absl::string_view name) {
  constexpr absl::string_view kWhat = "the variant";
  if (absl::StrContains(name, '.')) {
    return Bad(kWhat, name, "must not hold a dot");
  }
  if (name == kDefaultTargetKey) {
    return Bad(kWhat, name, "is where what variants share is kept");
  }
  INGOT_RETURN_IF_ERROR(CheckTargetKey(name));
  return CheckIdentifier(kWhat, name);
}

absl::Status CheckComponent(absl::string_view component, size_t max_length) {
  constexpr absl::string_view kWhat = "the file name component";
  if (component.empty()) return Bad(kWhat, component, "must not be empty");
  if (component.size() > max_length) {
    return Bad(kWhat, component,
               absl::StrCat("is longer than ", max_length, " bytes"));
  }
  for (const char c : component) {
    if (!absl::ascii_isprint(c)) {
      return Bad(kWhat, component, "must consist of printable ASCII");
    }
    if (absl::StrContains("/\\:*?\"<>|", c)) {
      return Bad(kWhat, component, "must not hold any of / \\ : * ? \" < > |");
    }
  }
  if (component == "." || component == "..") {
    return Bad(kWhat, component, "is not a name");
  }
  if (component.front() == ' ' || component.back() == ' ' ||
      component.back() == '.') {
    return Bad(kWhat, component,
               "must not start or end with a space, or end with a dot");
  }
  return absl::OkStatus();
}

absl::Status CheckFileName(absl::string_view name) {
  constexpr absl::string_view kWhat = "the file name";
  if (name.empty()) return Bad(kWhat, name, "must not be empty");
  if (name.size() > kMaxFileNameLength) {
    return Bad(kWhat, name,
               absl::StrCat("is longer than ", kMaxFileNameLength, " bytes"));
  }
  if (name[0] == '/') return Bad(kWhat, name, "must be a relative path");
  for (absl::string_view component : absl::StrSplit(name, '/')) {
    if (absl::Status s = CheckComponent(component); !s.ok()) {
      return Bad(kWhat, name, absl::StrCat("is not safe: ", s.message()));
    }
  }
  return absl::OkStatus();
}

NeededLibrary SplitLinkLibrary(absl::string_view text) {
  const size_t colon = text.find(':');
  if (colon == absl::string_view::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

absl::Status CheckProvenance(const Provenance& provenance) {
  absl::Status status;
  const auto check_text = [&status](absl::string_view what,
                                    absl::string_view text) {
    status.Update(CheckText(what, text));
  };
  status.Update(CheckUtf8("the model's name", provenance.model_name()));
  for (const Provenance::Option& entry : provenance.model_metadata()) {
    status.Update(CheckUtf8("the model's metadata", entry.name()));
    status.Update(CheckUtf8("the model's metadata", entry.value()));
  }
  check_text("Ingot's version", provenance.ingot_version());
  check_text("the model's SHA-256", provenance.model_sha256());
  check_text("the target", provenance.target());
  for (const Provenance::Option& option : provenance.options()) {
    check_text("the option", option.name());
    check_text("the option's value", option.value());
  }
  for (const std::string& path : provenance.edited()) {
    check_text("the edited artifact", path);
  }
  status.Update(CheckSymbolPrefix(provenance.symbol_prefix()));
  status.Update(CheckVariants(provenance));
  absl::string_view previous;
  for (const Provenance::TargetKey& key : provenance.target_keys()) {
    status.Update(CheckTargetKey(key.name()));
    if (key.name() <= previous) {
      status.Update(Bad("the target key", key.name(),
                        "is described twice, or out of order"));
    }
    previous = key.name();
    check_text("the target triple", key.triple());
    for (const std::string& feature : key.cpu_features()) {
      check_text("the CPU feature", feature);
    }
    for (const std::string& library : key.link_libraries()) {
      status.Update(CheckLinkLibrary(library));
    }
  }
  if (!provenance.library_key().empty()) {
    status.Update(CheckTargetKey(provenance.library_key()));
  }
  return status;
}

}  // namespace ingot
