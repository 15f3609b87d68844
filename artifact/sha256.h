// SHA-256, in one call or piece by piece.

#ifndef INGOT_ARTIFACT_SHA256_H_
#define INGOT_ARTIFACT_SHA256_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ingot {

// Hashes a stream of any length. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Update(absl::string_view bytes);

  // The digest of all that was given, as 32 bytes or as 64 lower-case hex
  // digits. Call one of them, once, last.
  std::string FinishBytes();
  std::string FinishHex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The digest of `bytes`: 64 lower-case hex digits, or 32 bytes.
std::string Sha256Hex(absl::string_view bytes);
std::string Sha256Bytes(absl::string_view bytes);

// The same of each, in hex digits. Where several are large, threads share them.
std::vector<std::string> Sha256HexOfAll(
    absl::Span<const absl::string_view> all);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_SHA256_H_
