// Signatures of files: who made a set or a library, and that no byte of it has
// changed since.
//
// A signature is a file of its own: a DSSE envelope (JSON) with an in-toto
// statement whose subject is the file, by its SHA-256, signed with Ed25519. The
// formats are those of secure-systems-lab/dsse and in-toto/attestation, version
// 1 of both. libcrypto.so.3 of OpenSSL is opened when it is first needed.
#ifndef INGOT_LOADERS_SIGNATURE_H_
#define INGOT_LOADERS_SIGNATURE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// What is appended to a file's name for that of its signature.
inline constexpr char kSignatureSuffix[] = ".sig";

// Signs the bytes of a file. `private_key` is PEM, not encrypted. The same key,
// name and bytes give the same signature. InvalidArgument for what is no such
// key, NotFound without libcrypto.
absl::StatusOr<std::string> SignFile(absl::string_view name,
                                     absl::string_view bytes,
                                     absl::string_view private_key);

// OK if `signature`, which may be hostile, is one of these bytes by the owner
// of `public_key` (PEM). The name in it does not count: files may be renamed.
// PermissionDenied says what differs; InvalidArgument for what is no public
// key, NotFound without libcrypto.
absl::Status CheckSignature(absl::string_view bytes,
                            absl::string_view signature,
                            absl::string_view public_key);

}  // namespace ingot

#endif  // INGOT_LOADERS_SIGNATURE_H_
