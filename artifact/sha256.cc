// The digest functions that OpenSSL 3 calls deprecated need no provider, so a
// program that links them statically gets three object files (with the
// processor's SHA instructions) in place of a library of five megabytes.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "artifact/sha256.h"

#include <openssl/sha.h>

#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace ingot {

struct Sha256::State {
  SHA256_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  SHA256_Init(&state_->context);
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::Update(absl::string_view bytes) {
  SHA256_Update(&state_->context, bytes.data(), bytes.size());
}

std::string Sha256::FinishBytes() {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_Final(digest, &state_->context);
  return std::string(reinterpret_cast<const char*>(digest), sizeof(digest));
}

std::string Sha256::FinishHex() {
  return absl::BytesToHexString(FinishBytes());
}

std::string Sha256Hex(absl::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.FinishHex();
}

std::string Sha256Bytes(absl::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.FinishBytes();
}

}  // namespace ingot
