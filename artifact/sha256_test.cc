#include "artifact/sha256.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace ingot {
namespace {

// The digests are those of FIPS 180-2's examples.
TEST(Sha256Test, KnownDigests) {
  EXPECT_EQ(Sha256Hex(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, PiecesGiveTheDigestOfTheWhole) {
  Sha256 hash;
  hash.Update("a");
  hash.Update("");
  hash.Update("bc");
  EXPECT_EQ(hash.FinishHex(), Sha256Hex("abc"));
}

TEST(Sha256Test, OfSeveralLargeAndSmallOnes) {
  const std::string large(size_t{9} << 20, 'a'), other(size_t{8} << 20, 'b');
  const std::vector<absl::string_view> all = {"abc", large, "", other, large};
  const std::vector<std::string> digests = Sha256HexOfAll(all);
  ASSERT_EQ(digests.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(digests[i], Sha256Hex(all[i])) << i;
  }
}

TEST(Sha256Test, BytesAndHexAgree) {
  const std::string bytes = Sha256Bytes("abc");
  ASSERT_EQ(bytes.size(), 32u);
  EXPECT_EQ(bytes.substr(0, 3), "\xba\x78\x16");
}

}  // namespace
}  // namespace ingot
