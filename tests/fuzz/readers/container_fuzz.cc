// Containers. The first byte says whether the digests are repaired before the
// rest is read, so that damage is found by the checks after them, too.
#include <string>

#include "absl/strings/str_cat.h"
#include "artifact/container.h"
#include "artifact/container_layout.h"
#include "artifact/manifest.pb.h"
#include "artifact/sha256.h"
#include "artifact/test_support.h"
#include "base/status_macros.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {
namespace {

using container_layout::Header;
using container_layout::kHeaderSize;

constexpr char kAsItIs = 'a';
constexpr char kRepaired = 'r';

// The container with every digest and size in its header and manifest as they
// should be, as far as there is a manifest.
std::string Repair(std::string bytes) {
  const absl::StatusOr<Header> old = container_layout::DecodeHeader(bytes);
  if (!old.ok() || old->manifest_offset > bytes.size() ||
      old->manifest_size > bytes.size() - old->manifest_offset) {
    return bytes;
  }
  std::string text = bytes.substr(old->manifest_offset, old->manifest_size);
  Manifest manifest;
  if (manifest.ParseFromString(text)) {
    for (Manifest::Entry& entry : *manifest.mutable_entries()) {
      if (entry.offset() > bytes.size() ||
          entry.size() > bytes.size() - entry.offset()) {
        continue;
      }
      entry.set_sha256(Sha256Hex(
          absl::string_view(bytes).substr(entry.offset(), entry.size())));
    }
    // Another length would move the payloads.
    const std::string repaired = manifest.SerializeAsString();
    if (repaired.size() == text.size()) text = repaired;
  }
  Header header;
  header.manifest_size = text.size();
  header.file_size = bytes.size();
  header.manifest_sha256 = Sha256Bytes(text);
  return EncodeHeader(header) + text +
         bytes.substr(old->manifest_offset + old->manifest_size);
}

}  // namespace

std::vector<std::string> Seeds() {
  const std::string small = *SerializeContainer(testing::SmallSet());
  const std::string empty = *SerializeContainer(ArtifactSet());
  std::vector<std::string> seeds;
  for (const char how : {kAsItIs, kRepaired}) {
    for (const std::string& container : {small, empty}) {
      seeds.push_back(std::string(1, how) + container);
    }
  }
  return seeds;
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  if (bytes.empty()) return false;
  std::string container(bytes.substr(1));
  if (bytes[0] == kRepaired) container = Repair(std::move(container));
  ReadOptions options;
  options.check_all_digests = true;
  const absl::StatusOr<ArtifactSet> set =
      ReadContainer(Blob::FromString(std::move(container)), options);
  if (!set.ok()) return false;
  // A set that was read is one like any other.
  INGOT_ASSIGN_OR_RETURN(std::string written, SerializeContainer(*set));
  const absl::StatusOr<ArtifactSet> again =
      ReadContainer(Blob::FromString(written), options);
  if (!again.ok()) return again.status();
  if (::testing::AssertionResult same = testing::SameSets(*set, *again);
      !same) {
    return absl::InternalError(
        absl::StrCat("written and read: ", same.message()));
  }
  return true;
}

}  // namespace ingot::fuzz
