#include "tools/ingot/signature_flags.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "loaders/signature.h"
#include "tools/ingot/files.h"

namespace ingot {

void SignatureFlags::AddTo(FlagSet* flags) {
  flags->String("require-signature", "PUBLIC.pem",
                "take the file only if the owner of that Ed25519 key has "
                "signed it (ingot sign)",
                &public_key);
  flags->String("signature", "SIG",
                "the signature, if it is not beside the file, with .sig after "
                "its name",
                &signature);
}

absl::Status SignatureFlags::Check() const {
  if (signature.empty() || required()) return absl::OkStatus();
  return UsageError(
      absl::StrCat("--signature=", signature,
                   " is checked only with --require-signature=PUBLIC.pem, "
                   "which is missing"));
}

absl::StatusOr<Blob> SignatureFlags::Read(absl::string_view path) const {
  if (IsFolder(path)) {
    return absl::FailedPreconditionError(
        "a directory has no signature; pack it, and sign the set");
  }
  absl::StatusOr<Blob> key = Blob::MapFile(public_key);
  if (!key.ok()) return Annotate(key.status(), public_key);
  INGOT_ASSIGN_OR_RETURN(const Blob file, Blob::MapFile(path));
  const std::string beside =
      signature.empty() ? absl::StrCat(path, kSignatureSuffix) : signature;
  absl::StatusOr<Blob> envelope = Blob::MapFile(beside);
  if (!envelope.ok()) {
    return absl::PermissionDeniedError(
        absl::StrCat("a signature is required, and there is none: ",
                     envelope.status().message()));
  }
  // A copy, since a file that is mapped may be changed by others at any time.
  Blob bytes = Blob::FromString(std::string(file.view()));
  absl::Status checked =
      CheckSignature(bytes.view(), envelope->view(), key->view());
  if (!checked.ok()) {
    const bool is_key = absl::IsInvalidArgument(checked);
    return Annotate(checked, is_key ? public_key : beside);
  }
  return bytes;
}

}  // namespace ingot
