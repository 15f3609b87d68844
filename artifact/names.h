// The rules for the names in an artifact set. Each check returns OK, or
// InvalidArgument with the name, escaped, and the rule that it breaks.

#ifndef INGOT_ARTIFACT_NAMES_H_
#define INGOT_ARTIFACT_NAMES_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "artifact/provenance.pb.h"

namespace ingot {

// Lengths in bytes. A component leaves room for the ending of an inspector's
// file within the 255 bytes that file systems allow.
inline constexpr size_t kMaxIdentifierLength = 128;
inline constexpr size_t kMaxFileNameLength = 1024;
inline constexpr size_t kMaxComponentLength = 200;

// A codegen id, loader or target key: 1 to kMaxIdentifierLength of
// [A-Za-z0-9_.-], the first and the last not a dot, the first not a dash.
// `what` says which of them in the message.
absl::Status CheckIdentifier(absl::string_view what, absl::string_view name);

// As CheckIdentifier; "manifest.json" in any case is refused too, because a
// directory has a file of that name where its target keys are.
absl::Status CheckTargetKey(absl::string_view name);

// As CheckTargetKey, for the name of a variant (variants.h): it has no dot and
// is not "host".
absl::Status CheckVariantName(absl::string_view name);

// A file name: a relative path of components joined by "/", each of printable
// ASCII without \ : * ? " < > |, neither "." nor "..", with no space at either
// end and no dot at its end (other systems drop those).
absl::Status CheckFileName(absl::string_view name);

// One component of such a path, of up to `max_length` bytes.
absl::Status CheckComponent(absl::string_view component,
                            size_t max_length = kMaxComponentLength);

// Texts are UTF-8 without control characters; the model's name may hold any
// UTF-8. The symbol prefix is empty or a C identifier. A link library is 1 to
// kMaxIdentifierLength of [A-Za-z0-9_.+-], the first neither "-" nor ".", with
// a colon in front of the package, if it has one.
absl::Status CheckProvenance(const Provenance& provenance);

// "openblas:libopenblas0": a library that native code calls into, and the
// Debian package that has it, for messages; empty where none is named. Both
// point into `text`.
struct NeededLibrary {
  absl::string_view name, package;
};
NeededLibrary SplitLinkLibrary(absl::string_view text);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_NAMES_H_
