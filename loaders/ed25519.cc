#include "loaders/ed25519.h"

#include <dlfcn.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <limits>
#include <memory>

#include "base/status_macros.h"

namespace ingot {
namespace {

// Those that are used.
#define INGOT_CRYPTO_FUNCTIONS(X) \
  X(BIO_free)                     \
  X(BIO_new_mem_buf)              \
  X(ERR_clear_error)              \
  X(EVP_DigestSign)               \
  X(EVP_DigestSignInit)           \
  X(EVP_DigestVerify)             \
  X(EVP_DigestVerifyInit)         \
  X(EVP_MD_CTX_free)              \
  X(EVP_MD_CTX_new)               \
  X(EVP_PKEY_free)                \
  X(EVP_PKEY_get_id)              \
  X(EVP_PKEY_get_raw_public_key)  \
  X(PEM_read_bio_PUBKEY)          \
  X(PEM_read_bio_PrivateKey)

struct Crypto {
#define INGOT_CRYPTO_FIELD(name) decltype(&::name) name = nullptr;
  INGOT_CRYPTO_FUNCTIONS(INGOT_CRYPTO_FIELD)
#undef INGOT_CRYPTO_FIELD
};

absl::StatusOr<const Crypto*> OpenLibrary() {
  constexpr char kMissing[] =
      "signatures need libcrypto.so.3 of OpenSSL 3; Debian's package libssl3 "
      "brings it";
  void* const library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return absl::NotFoundError(kMissing);
  auto crypto = std::make_unique<Crypto>();
#define INGOT_CRYPTO_FIND(name)                                        \
  crypto->name =                                                       \
      reinterpret_cast<decltype(crypto->name)>(dlsym(library, #name)); \
  if (crypto->name == nullptr) return absl::NotFoundError(kMissing);
  INGOT_CRYPTO_FUNCTIONS(INGOT_CRYPTO_FIND)
#undef INGOT_CRYPTO_FIND
  return crypto.release();
}

absl::StatusOr<const Crypto*> Open() {
  static const auto* const kCrypto =
      new absl::StatusOr<const Crypto*>(OpenLibrary());
  return *kCrypto;
}

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

const unsigned char* Bytes(absl::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// No program stops to ask for a password.
int NoPassword(char*, int, int, void*) { return 0; }

// The key in `pem`, if it is one of Ed25519.
absl::StatusOr<Owned<EVP_PKEY>> ReadKey(const Crypto& c, absl::string_view pem,
                                        bool is_private) {
  const absl::Status wrong = absl::InvalidArgumentError(
      is_private ? "the key is no private Ed25519 key in PEM without a password"
                 : "the key is no public Ed25519 key in PEM");
  if (pem.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return wrong;
  }
  BIO* const bio = c.BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  if (bio == nullptr) return wrong;
  EVP_PKEY* const read =
      is_private ? c.PEM_read_bio_PrivateKey(bio, nullptr, NoPassword, nullptr)
                 : c.PEM_read_bio_PUBKEY(bio, nullptr, NoPassword, nullptr);
  c.BIO_free(bio);
  c.ERR_clear_error();
  Owned<EVP_PKEY> key(read, c.EVP_PKEY_free);
  if (key == nullptr || c.EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519) {
    return wrong;
  }
  return key;
}

}  // namespace

absl::StatusOr<Ed25519Signature> SignEd25519(absl::string_view message,
                                             absl::string_view private_key) {
  INGOT_ASSIGN_OR_RETURN(const Crypto* c, Open());
  INGOT_ASSIGN_OR_RETURN(Owned<EVP_PKEY> key,
                         ReadKey(*c, private_key, /*is_private=*/true));
  Owned<EVP_MD_CTX> context(c->EVP_MD_CTX_new(), c->EVP_MD_CTX_free);
  unsigned char signature[64], owner[32];
  size_t signature_size = sizeof(signature), owner_size = sizeof(owner);
  if (context == nullptr ||
      c->EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr,
                            key.get()) != 1 ||
      c->EVP_DigestSign(context.get(), signature, &signature_size,
                        Bytes(message), message.size()) != 1 ||
      c->EVP_PKEY_get_raw_public_key(key.get(), owner, &owner_size) != 1) {
    c->ERR_clear_error();
    return absl::InternalError("OpenSSL could not sign");
  }
  return Ed25519Signature{{reinterpret_cast<char*>(signature), signature_size},
                          {reinterpret_cast<char*>(owner), owner_size}};
}

absl::StatusOr<bool> VerifyEd25519(absl::string_view message,
                                   absl::string_view signature,
                                   absl::string_view public_key) {
  INGOT_ASSIGN_OR_RETURN(const Crypto* c, Open());
  INGOT_ASSIGN_OR_RETURN(Owned<EVP_PKEY> key,
                         ReadKey(*c, public_key, /*is_private=*/false));
  Owned<EVP_MD_CTX> context(c->EVP_MD_CTX_new(), c->EVP_MD_CTX_free);
  if (context == nullptr ||
      c->EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr,
                              key.get()) != 1) {
    c->ERR_clear_error();
    return absl::InternalError("OpenSSL could not begin to check a signature");
  }
  const int verified =
      c->EVP_DigestVerify(context.get(), Bytes(signature), signature.size(),
                          Bytes(message), message.size());
  c->ERR_clear_error();
  return verified == 1;
}

}  // namespace ingot
