// Ed25519 by OpenSSL's libcrypto, which is opened when it is first needed, so
// that programs that check no signature do without it.
#ifndef INGOT_LOADERS_ED25519_H_
#define INGOT_LOADERS_ED25519_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

struct Ed25519Signature {
  std::string bytes;       // 64
  std::string public_key;  // of the signer, 32 bytes
};

// Keys are PEM, private ones not encrypted. InvalidArgument for another one,
// NotFound without libcrypto.
absl::StatusOr<Ed25519Signature> SignEd25519(absl::string_view message,
                                             absl::string_view private_key);

// Whether `signature` is the key's owner's of `message`.
absl::StatusOr<bool> VerifyEd25519(absl::string_view message,
                                   absl::string_view signature,
                                   absl::string_view public_key);

}  // namespace ingot

#endif  // INGOT_LOADERS_ED25519_H_
