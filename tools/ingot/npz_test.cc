#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/ingot/npy.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Number(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  return text;
}

std::string Deflate(const std::string& bytes) {
  z_stream stream = {};
  EXPECT_EQ(
      deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY),
      Z_OK);
  std::string out(bytes.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(&out[0]);
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Writes ZIP archives as Python does, or wrongly on purpose.
class Zip {
 public:
  struct Options {
    bool deflate = false;
    bool zip64 = false;         // sizes in the extra field
    uint64_t claimed_size = 0;  // 0: the true one
    uint32_t wrong_crc = 0;
    uint16_t flags = 0;
    int method = -1;
  };

  Zip& Add(const std::string& name, const std::string& bytes,
           const Options& options) {
    const std::string data = options.deflate ? Deflate(bytes) : bytes;
    const uint32_t crc = static_cast<uint32_t>(crc32(
                             0, reinterpret_cast<const Bytef*>(bytes.data()),
                             static_cast<uInt>(bytes.size()))) ^
                         options.wrong_crc;
    const uint64_t size =
        options.claimed_size != 0 ? options.claimed_size : bytes.size();
    const int method =
        options.method >= 0 ? options.method : (options.deflate ? 8 : 0);
    const uint64_t offset = body_.size();
    const std::string extra = options.zip64
                                  ? Number(1, 2) + Number(16, 2) +
                                        Number(size, 8) + Number(data.size(), 8)
                                  : "";
    const std::string sizes =
        options.zip64 ? Number(0xFFFFFFFF, 4) + Number(0xFFFFFFFF, 4)
                      : Number(data.size(), 4) + Number(size, 4);
    const std::string shared = Number(options.flags, 2) + Number(method, 2) +
                               Number(0, 4) + Number(crc, 4) + sizes +
                               Number(name.size(), 2) + Number(extra.size(), 2);
    absl::StrAppend(&body_, "PK\x03\x04", Number(45, 2), shared, name, extra,
                    data);
    absl::StrAppend(&directory_, "PK\x01\x02", Number(45, 2), Number(45, 2),
                    shared, Number(0, 2), Number(0, 2), Number(0, 2),
                    Number(0, 4), Number(offset, 4), name, extra);
    ++count_;
    return *this;
  }
  Zip& Add(const std::string& name, const std::string& bytes) {
    return Add(name, bytes, Options());
  }

  std::string Bytes(const std::string& comment = "") const {
    return absl::StrCat(body_, directory_, "PK\x05\x06", Number(0, 4),
                        Number(count_, 2), Number(count_, 2),
                        Number(directory_.size(), 4), Number(body_.size(), 4),
                        Number(comment.size(), 2), comment);
  }

  std::string Bytes64() const {
    const uint64_t record = body_.size() + directory_.size();
    return absl::StrCat(
        body_, directory_, "PK\x06\x06", Number(44, 8), Number(45, 2),
        Number(45, 2), Number(0, 8), Number(count_, 8), Number(count_, 8),
        Number(directory_.size(), 8), Number(body_.size(), 8), "PK\x06\x07",
        Number(0, 4), Number(record, 8), Number(1, 4), "PK\x05\x06",
        Number(0, 4), Number(0xFFFF, 2), Number(0xFFFF, 2),
        Number(0xFFFFFFFF, 4), Number(0xFFFFFFFF, 4), Number(0, 2));
  }

 private:
  std::string body_;
  std::string directory_;
  uint64_t count_ = 0;
};

std::string Floats(std::vector<float> values) {
  const int64_t size = static_cast<int64_t>(values.size());
  absl::StatusOr<Tensor> t =
      Tensor::FromBorrowed(values.data(), DataType::Float(32), {size});
  return *FormatNpy(*t);
}

std::string Error(const std::string& bytes) {
  auto arrays = ParseNpz(bytes);
  return arrays.ok() ? "parsed" : std::string(arrays.status().message());
}

constexpr Zip::Options kDeflated{/*deflate=*/true};

TEST(NpzTest, ReadsStoredAndDeflated) {
  auto arrays = ParseNpz(Zip()
                             .Add("x.npy", Floats({1, 2}))
                             .Add("y.npy", Floats({3}), kDeflated)
                             .Bytes("a comment"));
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  ASSERT_EQ(arrays->size(), 2u);
  EXPECT_THAT(arrays->at("x").values<float>(), ElementsAre(1, 2));
  EXPECT_THAT(arrays->at("y").values<float>(), ElementsAre(3));
}

TEST(NpzTest, ReadsZip64) {
  Zip::Options zip64;
  zip64.zip64 = true;
  const Zip zip = Zip().Add("x.npy", Floats({1, 2}), zip64);
  for (const std::string& bytes : {zip.Bytes(), zip.Bytes64()}) {
    auto arrays = ParseNpz(bytes);
    ASSERT_TRUE(arrays.ok()) << arrays.status();
    EXPECT_THAT(arrays->at("x").values<float>(), ElementsAre(1, 2));
  }
}

TEST(NpzTest, AnEmptyArchiveHasNoArrays) {
  auto arrays = ParseNpz(Zip().Bytes());
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  EXPECT_TRUE(arrays->empty());
}

TEST(NpzTest, RefusesWhatItCannotTrust) {
  Zip::Options options;
  options.wrong_crc = 1;
  EXPECT_THAT(Error(Zip().Add("x.npy", Floats({1}), options).Bytes()),
              HasSubstr("member 'x.npy': its bytes are not those"));
  options = Zip::Options();
  options.flags = 1;
  EXPECT_THAT(Error(Zip().Add("x.npy", Floats({1}), options).Bytes()),
              HasSubstr("encrypted"));
  options = Zip::Options();
  options.method = 12;
  EXPECT_THAT(Error(Zip().Add("x.npy", Floats({1}), options).Bytes()),
              HasSubstr("compression method 12"));
  EXPECT_THAT(
      Error(Zip().Add("x.npy", Floats({1})).Add("x.npy", Floats({1})).Bytes()),
      HasSubstr("twice"));
  EXPECT_THAT(Error(Zip().Add("x.npy", "no array").Bytes()),
              HasSubstr("member 'x.npy'"));
  EXPECT_THAT(Error("nothing at all, but longer than a record"),
              HasSubstr("not a ZIP archive"));
}

TEST(NpzTest, ASmallFileCannotTakeALotOfMemory) {
  Zip::Options bomb;
  bomb.deflate = true;
  bomb.zip64 = true;
  for (const uint64_t size :
       {uint64_t{1} << 40, ~uint64_t{0}, uint64_t{1} << 63}) {
    bomb.claimed_size = size;
    EXPECT_THAT(Error(Zip().Add("x.npy", Floats({1}), bomb).Bytes()),
                HasSubstr("larger than its bytes can make"));
  }
  bomb.claimed_size = 5;
  EXPECT_THAT(Error(Zip().Add("x.npy", Floats({1}), bomb).Bytes()),
              HasSubstr("compressed bytes are broken"));
}

TEST(NpzTest, SurvivesEveryCutAndEveryFlippedByte) {
  const std::string good = Zip()
                               .Add("x.npy", Floats({1, 2}))
                               .Add("y.npy", Floats({3}), kDeflated)
                               .Bytes();
  for (size_t i = 0; i < good.size(); ++i) {
    EXPECT_NE(Error(good.substr(0, i)), "parsed") << i;
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      ParseNpz(bad).status().IgnoreError();  // need only return
    }
  }
}

}  // namespace
}  // namespace ingot
