#include "loaders/signature.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "artifact/sha256.h"
#include "base/status_macros.h"
#include "loaders/ed25519.h"
#include "nlohmann/json.hpp"

namespace ingot {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kPayloadType[] = "application/vnd.in-toto+json";
constexpr char kStatementType[] = "https://in-toto.io/Statement/v1";
constexpr char kPredicateType[] = "urn:ingot:signed-file:1";

// A signature says one thing in a few hundred bytes.
constexpr size_t kMostBytes = size_t{64} << 10;

absl::Status Denied(absl::string_view why) {
  return absl::PermissionDeniedError(why);
}

// DSSE's pre-authentication encoding: what is signed for a payload.
std::string Encode(absl::string_view payload) {
  return absl::StrCat("DSSEv1 ", sizeof(kPayloadType) - 1, " ", kPayloadType,
                      " ", payload.size(), " ", payload);
}

// The string at `key` of an object; nothing where there is none.
std::string StringAt(const Json& json, const char* key) {
  if (!json.is_object()) return "";
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

Json ParseJson(absl::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr,
                     /*allow_exceptions=*/false);
}

// The digest in a statement; empty for what is none of ours.
std::string DigestOf(const Json& statement) {
  if (StringAt(statement, "_type") != kStatementType ||
      StringAt(statement, "predicateType") != kPredicateType) {
    return "";
  }
  const auto subject = statement.find("subject");
  if (subject == statement.end() || !subject->is_array() ||
      subject->size() != 1 || !(*subject)[0].is_object()) {
    return "";
  }
  const Json& file = (*subject)[0];
  const auto digest = file.find("digest");
  return digest == file.end() ? "" : StringAt(*digest, "sha256");
}

}  // namespace

absl::StatusOr<std::string> SignFile(absl::string_view name,
                                     absl::string_view bytes,
                                     absl::string_view private_key) {
  const Json statement = {
      {"_type", kStatementType},
      {"subject", Json::array({{{"name", std::string(name)},
                                {"digest", {{"sha256", Sha256Hex(bytes)}}}}})},
      {"predicateType", kPredicateType},
      {"predicate", Json::object()}};
  const std::string payload =
      statement.dump(-1, ' ', false, Json::error_handler_t::replace);
  INGOT_ASSIGN_OR_RETURN(const Ed25519Signature signature,
                         SignEd25519(Encode(payload), private_key));
  const Json envelope = {
      {"payloadType", kPayloadType},
      {"payload", absl::Base64Escape(payload)},
      {"signatures",
       Json::array({{{"keyid", Sha256Hex(signature.public_key)},
                     {"sig", absl::Base64Escape(signature.bytes)}}})}};
  return envelope.dump(2) + "\n";
}

absl::Status CheckSignature(absl::string_view bytes,
                            absl::string_view signature,
                            absl::string_view public_key) {
  if (signature.size() > kMostBytes) return Denied("the signature is too long");
  const Json envelope = ParseJson(signature);
  std::string payload;
  if (StringAt(envelope, "payloadType") != kPayloadType ||
      !absl::Base64Unescape(StringAt(envelope, "payload"), &payload)) {
    return Denied("the signature is no DSSE envelope of an in-toto statement");
  }
  const auto signatures = envelope.find("signatures");
  if (signatures == envelope.end() || !signatures->is_array()) {
    return Denied("the envelope has no signatures");
  }
  bool is_signed = false;
  for (const Json& each : *signatures) {
    std::string sig;
    if (!absl::Base64Unescape(StringAt(each, "sig"), &sig)) continue;
    INGOT_ASSIGN_OR_RETURN(const bool verified,
                           VerifyEd25519(Encode(payload), sig, public_key));
    is_signed = is_signed || verified;
  }
  if (!is_signed) {
    return Denied("the signature is not by the owner of the public key");
  }
  const std::string signed_digest = DigestOf(ParseJson(payload));
  if (signed_digest.empty()) {
    return Denied("the signature is of something else than a file of Ingot's");
  }
  if (signed_digest == Sha256Hex(bytes)) return absl::OkStatus();
  return Denied(
      "the signature is of other bytes: the file has changed since it was "
      "signed, or is another one");
}

}  // namespace ingot
