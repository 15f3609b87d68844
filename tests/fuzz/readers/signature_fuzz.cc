// Signatures beside a file: only the one that was made for its bytes is taken.
#include <string>
#include <vector>

#include "loaders/signature.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {
namespace {

// Made by the program openssl, for tests alone.
constexpr char kPrivate[] = R"(-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJtnGhXCaL9eN/LRq24oyiYQnObC9V/9RNJ+mJfxrfW1
-----END PRIVATE KEY-----
)";
constexpr char kPublic[] = R"(-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAxfKsWoBR5QnvglHS9Z8Vysm/STCD5mRwhdO0iHruUYE=
-----END PUBLIC KEY-----
)";

}  // namespace

std::vector<std::string> Seeds() {
  const absl::StatusOr<std::string> good =
      SignFile("m.ingot", "hello", kPrivate);
  const absl::StatusOr<std::string> other =
      SignFile("m.ingot", "goodbye", kPrivate);
  if (!good.ok() || !other.ok()) return {};
  return {*good, *other};
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  if (!CheckSignature("hello", bytes, kPublic).ok()) return false;
  // The statement says of which bytes; nothing that was changed in the rest of
  // the envelope makes it a statement of others.
  if (CheckSignature("goodbye", bytes, kPublic).ok()) {
    return absl::InternalError("a signature of two files");
  }
  return true;
}

}  // namespace ingot::fuzz
