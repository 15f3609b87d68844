#include "loaders/signature.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

// Made by the program openssl, for this test alone.
constexpr char kPrivate[] = R"(-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJtnGhXCaL9eN/LRq24oyiYQnObC9V/9RNJ+mJfxrfW1
-----END PRIVATE KEY-----
)";
constexpr char kPublic[] = R"(-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAxfKsWoBR5QnvglHS9Z8Vysm/STCD5mRwhdO0iHruUYE=
-----END PUBLIC KEY-----
)";
constexpr char kOtherPublic[] = R"(-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAwJIom1GFhZhM8+TivOEJWQuXE7Uef/8w61mUBSba8bw=
-----END PUBLIC KEY-----
)";
constexpr char kEllipticPublic[] = R"(-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtTAhy7Rzv3dHQ2iQqd4V7vwHSaR8
eREpUT04AtGZko/xdiKYsH3ULnophO+2tmiZ9U5mK2dvA5TQzKtq6hZM8g==
-----END PUBLIC KEY-----
)";
constexpr char kEncrypted[] = R"(-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiazY685HTJKAICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEIqDqA46Zeo2tNPoYQWdU+AEQHT9
tFrLtMgaQkm/NBgRrJCEUbwb5Zj2Etl5/UcQOuxfcLsQ9iYT+orGwIToJ0KR+qe8
tTky4H6QCNX4+QVWe70=
-----END ENCRYPTED PRIVATE KEY-----
)";

// What `openssl pkeyutl -sign -rawin` gives for DSSE's encoding of the
// statement that was written by hand for the bytes "hello".
constexpr char kEnvelope[] = R"({
  "payloadType": "application/vnd.in-toto+json",
  "payload": "eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pby9TdGF0ZW1lbnQvdjEiLCJzdWJqZWN0IjpbeyJuYW1lIjoibS5pbmdvdCIsImRpZ2VzdCI6eyJzaGEyNTYiOiIyY2YyNGRiYTVmYjBhMzBlMjZlODNiMmFjNWI5ZTI5ZTFiMTYxZTVjMWZhNzQyNWU3MzA0MzM2MjkzOGI5ODI0In19XSwicHJlZGljYXRlVHlwZSI6InVybjppbmdvdDpzaWduZWQtZmlsZToxIiwicHJlZGljYXRlIjp7fX0=",
  "signatures": [
    {
      "keyid": "60ed4f13b8784f184f7b0a6591ea83e528ff6aa949219c1ba3ea2e5ca39c9b12",
      "sig": "Sw1fskaxO4X7UI2wXriH7f5gCJIalM3rkulM0fduWTJeIP998z1w0tqVA2Pzw+OC2gjzos+tDzcP4yalcAn3Bg=="
    }
  ]
}
)";

TEST(Signature, IsWhatOpenSslSigns) {
  const auto made = SignFile("m.ingot", "hello", kPrivate);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(*made, kEnvelope);
  EXPECT_TRUE(CheckSignature("hello", kEnvelope, kPublic).ok());
}

void ExpectDenied(const std::string& bytes, const std::string& envelope,
                  const std::string& key, const std::string& why) {
  const absl::Status checked = CheckSignature(bytes, envelope, key);
  EXPECT_EQ(checked.code(), absl::StatusCode::kPermissionDenied) << checked;
  EXPECT_THAT(std::string(checked.message()), HasSubstr(why));
}

TEST(Signature, HoldsForTheseBytesAndThisKeyAlone) {
  ExpectDenied("hello!", kEnvelope, kPublic, "is of other bytes");
  ExpectDenied("", kEnvelope, kPublic, "is of other bytes");
  ExpectDenied("hello", kEnvelope, kOtherPublic, "not by the owner");
}

TEST(Signature, NoChangeOfTheEnvelopeGoesUnnoticed) {
  const std::string good = kEnvelope;
  const size_t payload = good.find("\"payload\": \"") + 12;
  const size_t sig = good.find("\"sig\": \"") + 8;
  for (const size_t begin : {payload, sig}) {
    for (size_t i = 0; i < 80; i += 3) {
      std::string bad = good;
      bad[begin + i] = bad[begin + i] == 'A' ? 'B' : 'A';
      EXPECT_FALSE(CheckSignature("hello", bad, kPublic).ok()) << begin + i;
    }
  }
}

TEST(Signature, HostileEnvelopesAreDenied) {
  const std::string good = kEnvelope;
  ExpectDenied("hello", "", kPublic, "no DSSE envelope");
  ExpectDenied("hello", "[]", kPublic, "no DSSE envelope");
  ExpectDenied("hello", std::string(100000, '['), kPublic, "too long");
  ExpectDenied("hello", std::string(60000, '['), kPublic, "no DSSE envelope");
  ExpectDenied("hello", good.substr(0, good.size() / 2), kPublic,
               "no DSSE envelope");
  ExpectDenied("hello",
               absl::StrReplaceAll(good, {{"\"signatures\"", "\"signature\""}}),
               kPublic, "has no signatures");
  ExpectDenied("hello", absl::StrReplaceAll(good, {{"\"sig\"", "\"sin\""}}),
               kPublic, "not by the owner");
  ExpectDenied(
      "hello",
      absl::StrReplaceAll(good, {{"vnd.in-toto+json", "vnd.other+json"}}),
      kPublic, "no DSSE envelope");
}

TEST(Signature, KeysAreOfEd25519) {
  for (const char* key : {"", "no key", kPrivate, kEllipticPublic}) {
    const absl::Status checked = CheckSignature("hello", kEnvelope, key);
    EXPECT_EQ(checked.code(), absl::StatusCode::kInvalidArgument) << checked;
  }
  for (const char* key : {"", kPublic, kEncrypted}) {
    const auto made = SignFile("m", "hello", key);
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument)
        << made.status();
  }
}

}  // namespace
}  // namespace ingot
