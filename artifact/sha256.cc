// The digest functions that OpenSSL 3 calls deprecated need no provider, so a
// program that links them statically gets three object files (with the
// processor's SHA instructions) in place of a library of five megabytes.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "artifact/sha256.h"

#include <openssl/sha.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

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

std::vector<std::string> Sha256HexOfAll(
    absl::Span<const absl::string_view> all) {
  // Starting a thread takes as long as hashing a hundredth of this.
  constexpr size_t kLarge = size_t{8} << 20;
  const auto large = static_cast<size_t>(
      std::count_if(all.begin(), all.end(),
                    [](absl::string_view b) { return b.size() >= kLarge; }));
  std::vector<std::string> digests(all.size());
  std::atomic<size_t> next{0};
  const auto hash = [&] {
    for (size_t i = next++; i < all.size(); i = next++) {
      digests[i] = Sha256Hex(all[i]);
    }
  };
  // The system is asked for its processors only where there is work for them:
  // that takes three system calls.
  const size_t count =
      large <= 1
          ? 1
          : std::min<size_t>(large,
                             std::max(std::thread::hardware_concurrency(), 1u));
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i) threads.emplace_back(hash);
  hash();
  for (std::thread& thread : threads) thread.join();
  return digests;
}

}  // namespace ingot
