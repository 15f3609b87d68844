#include "artifact/container.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "artifact/container_layout.h"
#include "artifact/test_support.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using testing::Fails;
using testing::MakeArtifact;
using testing::SameSets;
using testing::SmallSet;

TEST(ContainerTest, RoundTrip) {
  const ArtifactSet set = SmallSet();
  const absl::StatusOr<std::string> bytes = SerializeContainer(set);
  ASSERT_OK(bytes);
  ReadOptions options;
  options.check_all_digests = true;
  const auto back = ReadContainer(Blob::FromString(*bytes), options);
  ASSERT_OK(back);
  EXPECT_TRUE(SameSets(set, *back));
  EXPECT_EQ(*SerializeContainer(*back), *bytes);
}

TEST(ContainerTest, HeadersAreTheSameForTheSameBytes) {
  const auto blob_of = [](const ArtifactSet& set) {
    return Blob::FromString(*SerializeContainer(set));
  };
  const Blob a = blob_of(SmallSet());
  EXPECT_TRUE(HaveSameHeader(a, blob_of(SmallSet())));
  ArtifactSet other = SmallSet();
  Artifact changed = other.artifacts()[0];
  changed.file_name += "2";
  ASSERT_OK(other.Add(std::move(changed)));
  EXPECT_FALSE(HaveSameHeader(a, blob_of(other)));
  EXPECT_FALSE(HaveSameHeader(a, a.Slice(0, 100)));
}

TEST(ContainerTest, AnEmptySet) {
  const absl::StatusOr<std::string> bytes = SerializeContainer(ArtifactSet());
  ASSERT_OK(bytes);
  const auto back = ReadContainer(Blob::FromString(*bytes));
  ASSERT_OK(back);
  EXPECT_TRUE(SameSets(ArtifactSet(), *back));
}

TEST(ContainerTest, AFileHasTheSameBytes) {
  const std::string path = testing::TestFolder() + "/set.ingot";
  ASSERT_OK(WriteContainer(SmallSet(), path));
  EXPECT_EQ(testing::ReadFile(path), *SerializeContainer(SmallSet()));
  const auto back = ReadContainerFile(path);
  ASSERT_OK(back);
  EXPECT_TRUE(SameSets(SmallSet(), *back));
}

TEST(ContainerTest, BytesDoNotDependOnTheOrderOfAdding) {
  ArtifactSet backward;
  const ArtifactSet set = SmallSet();
  for (auto it = set.artifacts().rbegin(); it != set.artifacts().rend(); ++it) {
    ASSERT_OK(backward.Add(*it));
  }
  backward.mutable_provenance() = set.provenance();
  EXPECT_EQ(*SerializeContainer(backward), *SerializeContainer(set));
}

TEST(ContainerTest, TheHeaderIsAsDocumented) {
  const std::string bytes = *SerializeContainer(SmallSet());
  EXPECT_EQ(bytes.substr(0, 16),
            std::string("INGOT\0\r\n\2\0\0\0\x80\0\0\0", 16));
  EXPECT_EQ(bytes.substr(16, 8), std::string("\x80\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(72, 24), std::string(24, '\0'));
  const absl::StatusOr<uint64_t> size =
      ContainerSize(absl::string_view(bytes).substr(0, 128));
  ASSERT_OK(size);
  EXPECT_EQ(*size, bytes.size());
}

TEST(ContainerTest, PayloadsAreAlignedAndNotCopied) {
  ArtifactSet set = SmallSet();
  const std::string large(kPagePayloadSize, '\1');
  ASSERT_OK(
      set.Add(MakeArtifact("constants", "constants", "host", "large", large)));
  ASSERT_OK(
      set.Add(MakeArtifact("zzz", "native", "host", "x", large.substr(1))));
  const std::string path = testing::TestFolder() + "/set.ingot";
  ASSERT_OK(WriteContainer(set, path));
  const absl::StatusOr<Blob> blob = Blob::MapFile(path);
  ASSERT_OK(blob);
  const auto back = ReadContainer(*blob);
  ASSERT_OK(back);
  for (const Artifact& artifact : back->artifacts()) {
    const uint8_t* data = artifact.content.data();
    EXPECT_GE(data, blob->data());
    EXPECT_LE(data + artifact.content.size(), blob->data() + blob->size());
    const size_t alignment =
        artifact.content.size() >= kPagePayloadSize ? 4096 : 64;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % alignment, 0u)
        << ArtifactPath(artifact);
  }
}

TEST(ContainerTest, ArtifactsOutliveTheBlobTheyWereReadFrom) {
  Artifact kept;
  {
    const auto set =
        ReadContainer(Blob::FromString(*SerializeContainer(SmallSet())));
    ASSERT_OK(set);
    kept = *set->Find("dsp", "llvm", "lib0.o");
  }
  EXPECT_EQ(kept.content.view(), "dsp");
}

TEST(ContainerTest, ALiveObjectIsRefused) {
  ArtifactSet set = SmallSet();
  Artifact live = MakeArtifact("python", "python", "host", "f", "");
  live.live = std::make_shared<int>(1);
  ASSERT_OK(set.Add(live));
  const std::string path = testing::TestFolder() + "/set.ingot";
  const auto code = absl::StatusCode::kFailedPrecondition;
  EXPECT_TRUE(Fails(SerializeContainer(set).status(), code, {"host/python/f"}));
  EXPECT_TRUE(Fails(WriteContainer(set, path), code, {"host/python/f"}));
  EXPECT_FALSE(testing::Exists(path));
}

TEST(ContainerTest, AManifestThatIsTooLongIsRefused) {
  ArtifactSet set;
  set.mutable_provenance().set_model_name(std::string(kMaxManifestSize, 'x'));
  EXPECT_TRUE(Fails(SerializeContainer(set).status(),
                    absl::StatusCode::kResourceExhausted, {"manifest"}));
}

TEST(ContainerTest, AnErrorOfTheSinkStopsTheWriter) {
  int calls = 0;
  const absl::Status status =
      WriteContainerTo(SmallSet(), [&calls](absl::string_view) {
        return ++calls == 3 ? absl::CancelledError("enough") : absl::OkStatus();
      });
  EXPECT_TRUE(Fails(status, absl::StatusCode::kCancelled, {"enough"}));
  EXPECT_EQ(calls, 3);
}

TEST(ContainerTest, PiecesAreBounded) {
  ArtifactSet set;
  ASSERT_OK(set.Add(
      MakeArtifact("c", "native", "host", "x", std::string(9 << 20, 'x'))));
  size_t largest = 0;
  ASSERT_OK(WriteContainerTo(set, [&largest](absl::string_view bytes) {
    largest = std::max(largest, bytes.size());
    return absl::OkStatus();
  }));
  EXPECT_LE(largest, size_t{4} << 20);
}

TEST(ContainerLayoutTest, PlacesPayloadsWithoutOverflow) {
  using container_layout::PlacePayload;
  EXPECT_EQ(*PlacePayload(0, 10), 0u);
  EXPECT_EQ(*PlacePayload(1, 10), 64u);
  EXPECT_EQ(*PlacePayload(64, 0), 64u);
  EXPECT_EQ(*PlacePayload(65, kPagePayloadSize - 1), 128u);
  EXPECT_EQ(*PlacePayload(65, kPagePayloadSize), 4096u);
  const uint64_t four_gib = uint64_t{1} << 32;
  EXPECT_EQ(*PlacePayload(four_gib + 1, four_gib), four_gib + 4096);
  const uint64_t limit = INT64_MAX;
  EXPECT_OK(PlacePayload(0, limit));
  for (const auto& [end, size] : {std::pair<uint64_t, uint64_t>{1, limit},
                                  {limit, 1},
                                  {limit, 0},
                                  {UINT64_MAX, 0},
                                  {0, UINT64_MAX},
                                  {UINT64_MAX, UINT64_MAX},
                                  {limit - 4096, 4097}}) {
    EXPECT_EQ(PlacePayload(end, size).status().code(),
              absl::StatusCode::kOutOfRange)
        << end << " " << size;
  }
}

}  // namespace
}  // namespace ingot
