#include "artifact/sha256.h"

#include <openssl/evp.h>

#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace ingot {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, FreeContext> context;
  bool ok = false;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  state_->context.reset(EVP_MD_CTX_new());
  state_->ok =
      state_->context != nullptr &&
      EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1;
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::Update(absl::string_view bytes) {
  if (!state_->ok || bytes.empty()) return;
  state_->ok =
      EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1;
}

std::string Sha256::FinishBytes() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (!state_->ok ||
      EVP_DigestFinal_ex(state_->context.get(), digest, &size) != 1) {
    return "";
  }
  return std::string(reinterpret_cast<const char*>(digest), size);
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
