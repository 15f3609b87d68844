// --require-signature: files are taken only from who signed them.
#ifndef INGOT_TOOLS_INGOT_SIGNATURE_FLAGS_H_
#define INGOT_TOOLS_INGOT_SIGNATURE_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/blob.h"
#include "tools/ingot/flags.h"

namespace ingot {

struct SignatureFlags {
  std::string public_key;  // a path; empty: no signature is asked for
  std::string signature;   // a path; empty: the file's with .sig after it

  void AddTo(FlagSet* flags);
  bool required() const { return !public_key.empty(); }

  // A signature that nothing is compared with is an error of usage.
  absl::Status Check() const;

  // The bytes of a set or of a library that are as they were signed, in memory:
  // whatever happens to the file afterwards. PermissionDenied otherwise, also
  // where there is no signature; FailedPrecondition for a directory.
  absl::StatusOr<Blob> Read(absl::string_view path) const;
};

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_SIGNATURE_FLAGS_H_
