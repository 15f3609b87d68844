// Containers that are damaged, cut off, of another version, or hostile.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "artifact/container.h"
#include "artifact/container_format.h"
#include "artifact/container_layout.h"
#include "artifact/manifest.pb.h"
#include "artifact/sha256.h"
#include "artifact/test_support.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using container_layout::EncodeHeader;
using container_layout::Header;
using container_layout::kHeaderSize;
using testing::Fails;
using testing::SmallSet;

absl::StatusOr<ArtifactSet> Read(std::string bytes,
                                 bool check_all_digests = false) {
  ReadOptions options;
  options.check_all_digests = check_all_digests;
  return ReadContainer(Blob::FromString(std::move(bytes)), options);
}

Manifest ManifestOf(const std::string& container) {
  const Header header = *container_layout::DecodeHeader(container);
  Manifest manifest;
  EXPECT_TRUE(manifest.ParseFromString(
      container.substr(header.manifest_offset, header.manifest_size)));
  return manifest;
}

// A container whose header agrees with `manifest` and `rest`, as someone who
// knows the format would make it.
std::string Sign(const std::string& manifest, const std::string& rest) {
  Header header;
  header.manifest_size = manifest.size();
  header.file_size = kHeaderSize + manifest.size() + rest.size();
  header.manifest_sha256 = Sha256Bytes(manifest);
  return EncodeHeader(header) + manifest + rest;
}

// The small set's container after `change` to its manifest. The change must
// keep the manifest's length, or the payloads are elsewhere than it says.
std::string WithManifest(const std::function<void(Manifest*)>& change) {
  const std::string bytes = *SerializeContainer(SmallSet());
  Manifest manifest = ManifestOf(bytes);
  const size_t before = manifest.ByteSizeLong();
  change(&manifest);
  EXPECT_EQ(manifest.ByteSizeLong(), before);
  return Sign(manifest.SerializeAsString(), bytes.substr(kHeaderSize + before));
}

TEST(ContainerDamageTest, TheHelpersMakeWhatTheWriterMakes) {
  EXPECT_EQ(WithManifest([](Manifest*) {}), *SerializeContainer(SmallSet()));
}

TEST(ContainerDamageTest, EveryFlippedBitIsFound) {
  const std::string bytes = *SerializeContainer(SmallSet());
  const Manifest manifest = ManifestOf(bytes);
  uint64_t weights = 0, weights_end = 0;
  for (const Manifest::Entry& entry : manifest.entries()) {
    if (entry.loader() != "constants") continue;
    weights = entry.offset();
    weights_end = entry.offset() + entry.size();
  }
  ASSERT_LT(weights, weights_end);
  for (size_t at = 0; at < bytes.size(); ++at) {
    const bool deferred = at >= weights && at < weights_end;
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      ASSERT_EQ(Read(damaged).ok(), deferred) << "byte " << at;
      ASSERT_FALSE(Read(damaged, /*check_all_digests=*/true).ok())
          << "byte " << at;
    }
  }
}

TEST(ContainerDamageTest, EveryTruncationIsFound) {
  const std::string bytes = *SerializeContainer(SmallSet());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const absl::Status status = Read(bytes.substr(0, size)).status();
    ASSERT_TRUE(Fails(status, absl::StatusCode::kDataLoss, {"cut off"}))
        << size << " bytes";
  }
}

TEST(ContainerDamageTest, BytesAtTheEndAreFound) {
  const std::string bytes = *SerializeContainer(SmallSet());
  EXPECT_TRUE(Fails(Read(bytes + '\0').status(), absl::StatusCode::kDataLoss,
                    {"too long"}));
  const Manifest manifest = ManifestOf(bytes);
  EXPECT_TRUE(Fails(
      Read(Sign(manifest.SerializeAsString(),
                bytes.substr(kHeaderSize + manifest.ByteSizeLong()) + "more"))
          .status(),
      absl::StatusCode::kDataLoss, {"4 bytes at its end"}));
}

TEST(ContainerDamageTest, SomethingElseIsNoContainer) {
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(Fails(Read("\x7f"
                         "ELF")
                        .status(),
                    code, {"not an Ingot container"}));
  EXPECT_TRUE(Fails(Read(std::string(1000, '\0')).status(), code,
                    {"not an Ingot container"}));
}

TEST(ContainerDamageTest, AnotherVersionIsNamedBeforeAnythingElse) {
  std::string bytes = *SerializeContainer(SmallSet());
  bytes[8] = 3;  // leaves the checksum wrong
  const auto code = absl::StatusCode::kFailedPrecondition;
  EXPECT_TRUE(Fails(Read(bytes).status(), code,
                    {"format version 3", "version 2", "newer"}));
  // A later version's header may be shorter.
  EXPECT_TRUE(Fails(Read(bytes.substr(0, 20)).status(), code, {"version 3"}));
  bytes[8] = 1;
  EXPECT_TRUE(Fails(Read(bytes).status(), code, {"format version 1", "older"}));
  EXPECT_TRUE(Fails(Read(WithManifest([](Manifest* manifest) {
                      manifest->set_format_version(7);
                    })).status(),
                    absl::StatusCode::kDataLoss, {"format version 7"}));
}

TEST(ContainerDamageTest, MessagesNameTheArtifactAndTheFile) {
  std::string bytes = *SerializeContainer(SmallSet());
  bytes.back() = static_cast<char>(bytes.back() ^ 1);  // plan.json is the last
  const std::string path = testing::TestFolder() + "/set.ingot";
  testing::WriteFile(path, bytes);
  EXPECT_TRUE(Fails(ReadContainerFile(path).status(),
                    absl::StatusCode::kDataLoss,
                    {path, "host/plan/plan.json", "SHA-256"}));
}

TEST(ContainerDamageTest, PaddingIsChecked) {
  std::string bytes = *SerializeContainer(SmallSet());
  const Manifest manifest = ManifestOf(bytes);
  bytes[manifest.entries(0).offset() - 1] = 1;
  EXPECT_TRUE(Fails(Read(bytes).status(), absl::StatusCode::kDataLoss,
                    {"padding", "dsp/llvm/lib0.o"}));
}

TEST(ContainerDamageTest, HostilePlacesAreRefused) {
  struct Case {
    const char* what;
    std::function<void(Manifest::Entry*)> change;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"in the header", [](auto* e) { e->set_offset(64); }, "overlaps"},
      {"beyond the end", [](auto* e) { e->set_offset(1 << 20); }, "beyond"},
      {"offset near 2^64", [](auto* e) { e->set_offset(~uint64_t{0} - 63); },
       "beyond"},
      {"not aligned", [](auto* e) { e->set_offset(e->offset() + 8); },
       "aligned"},
  };
  for (const Case& c : cases) {
    // Entry 3 is a payload in the middle of the container.
    const std::string bytes = WithManifest(
        [&c](Manifest* manifest) { c.change(manifest->mutable_entries(3)); });
    EXPECT_TRUE(Fails(Read(bytes).status(), absl::StatusCode::kDataLoss,
                      {c.message, "host/constants/weights.bin"}))
        << c.what;
  }
}

TEST(ContainerDamageTest, TwoPayloadsInOnePlaceAreRefused) {
  const std::string bytes = WithManifest([](Manifest* manifest) {
    manifest->mutable_entries(4)->set_offset(manifest->entries(3).offset());
  });
  EXPECT_TRUE(Fails(Read(bytes).status(), absl::StatusCode::kDataLoss,
                    {"overlaps", "host/llvm/lib0.o"}));
}

// The payload of an artifact alone in a container, at the least offset.
std::string Alone(Manifest::Entry entry, const std::string& payload,
                  uint64_t gap = 0) {
  Manifest manifest;
  manifest.set_format_version(kContainerFormatVersion);
  if (entry.sha256().empty()) entry.set_sha256(Sha256Hex(payload));
  entry.set_offset(1);
  *manifest.add_entries() = entry;
  const uint64_t end = kHeaderSize + manifest.ByteSizeLong();
  const uint64_t offset = (end + 63) / 64 * 64 + gap;
  manifest.mutable_entries(0)->set_offset(offset);
  return Sign(manifest.SerializeAsString(),
              std::string(offset - end, '\0') + payload);
}

Manifest::Entry GoodEntry() {
  Manifest::Entry entry;
  entry.set_codegen_id("c");
  entry.set_loader("native");
  entry.set_target_key("host");
  entry.set_file_name("x");
  entry.set_size(4);
  return entry;
}

TEST(ContainerDamageTest, SizesAreChecked) {
  EXPECT_OK(Read(Alone(GoodEntry(), "data")));
  for (const uint64_t size : {uint64_t{5}, uint64_t{1} << 32, uint64_t{1} << 63,
                              UINT64_MAX, UINT64_MAX - 255}) {
    Manifest::Entry entry = GoodEntry();
    entry.set_size(size);
    EXPECT_TRUE(Fails(Read(Alone(entry, "data")).status(),
                      absl::StatusCode::kDataLoss, {"beyond"}))
        << size;
  }
  Manifest::Entry entry = GoodEntry();
  entry.set_size(3);
  EXPECT_FALSE(Read(Alone(entry, "data")).ok());
}

TEST(ContainerDamageTest, AHugeGapIsRefused) {
  EXPECT_OK(Read(Alone(GoodEntry(), "data", 4096)));
  EXPECT_TRUE(Fails(Read(Alone(GoodEntry(), "data", 4 << 20)).status(),
                    absl::StatusCode::kDataLoss, {"too many bytes"}));
}

TEST(ContainerDamageTest, AHugeManifestIsRefused) {
  Header header;
  header.manifest_sha256 = std::string(32, 'x');
  for (const uint64_t size :
       {uint64_t{1}, uint64_t{kMaxManifestSize} + 1, UINT64_MAX,
        UINT64_MAX - kHeaderSize, UINT64_MAX - kHeaderSize + 1}) {
    header.manifest_size = size;
    header.file_size = kHeaderSize;
    EXPECT_TRUE(Fails(Read(EncodeHeader(header)).status(),
                      absl::StatusCode::kDataLoss, {"manifest"}))
        << size;
  }
  header.manifest_size = kMaxManifestSize + 1;
  header.file_size = kHeaderSize + header.manifest_size;
  std::string bytes = EncodeHeader(header);
  bytes.resize(header.file_size);
  EXPECT_TRUE(Fails(Read(bytes).status(), absl::StatusCode::kDataLoss,
                    {"cannot have"}));
}

TEST(ContainerDamageTest, HostileNamesAreRefused) {
  const std::vector<std::function<void(Manifest::Entry*)>> changes = {
      [](auto* e) { e->set_file_name("../../etc/passwd"); },
      [](auto* e) { e->set_file_name("/etc/passwd"); },
      [](auto* e) { e->set_file_name("a\nb"); },
      [](auto* e) { e->set_file_name(""); },
      [](auto* e) { e->set_codegen_id("../x"); },
      [](auto* e) { e->set_loader(""); },
      [](auto* e) { e->set_target_key(""); },
      [](auto* e) { e->set_target_key(".."); },
      [](auto* e) { e->set_target_key("manifest.json"); },
      [](auto* e) { e->set_file_name(std::string(100000, 'x')); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Manifest::Entry entry = GoodEntry();
    changes[i](&entry);
    const absl::Status status = Read(Alone(entry, "data")).status();
    EXPECT_TRUE(Fails(status, absl::StatusCode::kInvalidArgument, {})) << i;
    EXPECT_LT(status.message().size(), 1000u);
  }
}

TEST(ContainerDamageTest, ADuplicateIsRefused) {
  const std::string bytes = WithManifest([](Manifest* manifest) {
    // host/c/empty becomes host/c/weights.bin, and host/constants/weights.bin
    // host/c/weights.bin; the model's name keeps the length.
    const size_t before = manifest->ByteSizeLong();
    manifest->mutable_entries(1)->set_file_name("weights.bin");
    manifest->mutable_entries(3)->set_codegen_id("c");
    const size_t now = manifest->ByteSizeLong();
    std::string* name = manifest->mutable_provenance()->mutable_model_name();
    name->resize(name->size() + before - now, 'x');
  });
  EXPECT_TRUE(Fails(Read(bytes).status(), absl::StatusCode::kAlreadyExists,
                    {"host/c/weights.bin"}));
}

TEST(ContainerDamageTest, DigestsHaveOneForm) {
  for (const std::string& digest :
       {std::string("0"), std::string(64, 'g'),
        absl::AsciiStrToUpper(Sha256Hex("data")), Sha256Hex("data") + "00"}) {
    Manifest::Entry entry = GoodEntry();
    entry.set_sha256(digest);
    EXPECT_TRUE(Fails(Read(Alone(entry, "data")).status(),
                      absl::StatusCode::kDataLoss, {"digest"}));
  }
}

TEST(ContainerDamageTest, OnlyWeightsMayDeferTheirDigest) {
  Manifest::Entry entry = GoodEntry();
  entry.set_sha256(Sha256Hex("other"));
  entry.set_defer_digest(true);
  EXPECT_FALSE(Read(Alone(entry, "data")).ok());
  entry.set_loader("constants");
  EXPECT_OK(Read(Alone(entry, "data")));
  EXPECT_FALSE(Read(Alone(entry, "data"), /*check_all_digests=*/true).ok());
  entry.set_defer_digest(false);
  EXPECT_FALSE(Read(Alone(entry, "data")).ok());
}

TEST(ContainerDamageTest, HostileProvenanceIsRefused) {
  Manifest manifest;
  manifest.set_format_version(kContainerFormatVersion);
  Provenance::TargetKey* key = manifest.mutable_provenance()->add_target_keys();
  key->set_name("host");
  key->add_link_libraries("-Wl,--x");
  EXPECT_TRUE(Fails(Read(Sign(manifest.SerializeAsString(), "")).status(),
                    absl::StatusCode::kInvalidArgument,
                    {"provenance", "link library"}));
}

TEST(ContainerDamageTest, FieldsOfALaterIngotAreIgnored) {
  // Field 100, of two bytes, in the manifest and in its provenance.
  const std::string later = "\xa2\x06\x02hi";
  Manifest manifest;
  manifest.set_format_version(kContainerFormatVersion);
  ASSERT_TRUE(manifest.mutable_provenance()->ParseFromString(later));
  const std::string bytes = Sign(manifest.SerializeAsString() + later, "");
  const auto set = Read(bytes);
  ASSERT_OK(set);
  EXPECT_EQ(*SerializeContainer(*set), *SerializeContainer(ArtifactSet()));
}

// With a header that agrees, the manifest's parser and checks get every one of
// these. Whatever they find, reading ends in a set that can be written again or
// in an error.
TEST(ContainerDamageTest, SignedDamageNeverCrashes) {
  const std::string bytes = *SerializeContainer(SmallSet());
  const size_t size = ManifestOf(bytes).ByteSizeLong();
  const std::string rest = bytes.substr(kHeaderSize + size);
  int errors = 0;
  for (size_t at = 0; at < size; ++at) {
    for (const int change : {0x01, 0x08, 0x80, 0xff}) {
      std::string manifest = bytes.substr(kHeaderSize, size);
      manifest[at] = static_cast<char>(manifest[at] ^ change);
      const auto set = Read(Sign(manifest, rest));
      if (set.ok()) {
        EXPECT_OK(SerializeContainer(*set));
      } else {
        ++errors;
      }
    }
    Read(Sign(bytes.substr(kHeaderSize, at), rest)).IgnoreError();
  }
  EXPECT_GT(errors, 0);
}

}  // namespace
}  // namespace ingot
