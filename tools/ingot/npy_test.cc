#include "tools/ingot/npy.h"

#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/float16.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file of version 1 with the given header text and elements.
std::string Npy(const std::string& header, const std::string& data,
                int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  }
  return bytes + header + data;
}

std::string Header(const std::string& descr, const std::string& shape,
                   const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran +
         ", 'shape': " + shape + ", }     \n";
}

std::string Error(const std::string& bytes) {
  absl::StatusOr<Tensor> tensor = ParseNpy(bytes);
  return tensor.ok() ? "parsed" : std::string(tensor.status().message());
}

template <typename T>
std::string Raw(std::vector<T> values) {
  return std::string(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(T));
}

TEST(NpyTest, ReadsEveryVersion) {
  for (int version = 1; version <= 3; ++version) {
    absl::StatusOr<Tensor> t = ParseNpy(
        Npy(Header("<f4", "(2, 1)"), Raw<float>({1.5f, -2.0f}), version));
    ASSERT_TRUE(t.ok()) << t.status();
    EXPECT_EQ(t->TypeString(), "f32[2, 1]");
    EXPECT_THAT(t->values<float>(), ElementsAre(1.5f, -2.0f));
  }
}

TEST(NpyTest, EveryTypeRoundTrips) {
  for (const DataType type :
       {DataType::Float(64), DataType::Float(32), DataType::Float(16),
        DataType::Int(8), DataType::Int(16), DataType::Int(32),
        DataType::Int(64), DataType::UInt(8), DataType::UInt(16),
        DataType::UInt(32), DataType::UInt(64), DataType::Bool()}) {
    absl::StatusOr<Tensor> t = Tensor::Empty(type, {3, 2});
    ASSERT_TRUE(t.ok());
    char* data = static_cast<char*>(t->mutable_raw_data());
    for (size_t i = 0; i < t->bytes(); ++i) {
      data[i] = static_cast<char>(type.is_bool() ? i % 2 : i + 1);
    }
    absl::StatusOr<std::string> bytes = FormatNpy(*t);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    absl::StatusOr<Tensor> back = ParseNpy(*bytes);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(back->TypeString(), t->TypeString());
    EXPECT_EQ(memcmp(back->raw_data(), t->raw_data(), t->bytes()), 0);
  }
}

TEST(NpyTest, EveryRankRoundTrips) {
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{}, {3}, {0}, {2, 0, 5}, {1, 2, 3}}) {
    absl::StatusOr<Tensor> t = Tensor::Empty(DataType::Int(8), shape);
    ASSERT_TRUE(t.ok());
    memset(t->mutable_raw_data(), 7, t->bytes());
    absl::StatusOr<std::string> bytes = FormatNpy(*t);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ((bytes->size() - t->bytes()) % 64, 0u);
    absl::StatusOr<Tensor> back = ParseNpy(*bytes);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(back->TypeString(), t->TypeString());
  }
}

TEST(NpyTest, WritesWhatNumpyWrites) {
  absl::StatusOr<Tensor> t = Tensor::Empty(DataType::Float(32), {3});
  ASSERT_TRUE(t.ok());
  absl::StatusOr<std::string> bytes = FormatNpy(*t);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->substr(0, 10), std::string("\x93NUMPY\x01\x00v\x00", 10));
  EXPECT_THAT(*bytes, HasSubstr("{'descr': '<f4', 'fortran_order': False, "
                                "'shape': (3,), }"));
}

TEST(NpyTest, WidensBFloat16) {
  absl::StatusOr<Tensor> t = Tensor::Empty(DataType::BFloat16(), {2});
  ASSERT_TRUE(t.ok());
  t->mutable_data<uint16_t>()[0] = FloatToBFloat16(1.5f);
  t->mutable_data<uint16_t>()[1] = FloatToBFloat16(-3.0f);
  absl::StatusOr<std::string> bytes = FormatNpy(*t);
  ASSERT_TRUE(bytes.ok());
  absl::StatusOr<Tensor> back = ParseNpy(*bytes);
  ASSERT_TRUE(back.ok());
  EXPECT_THAT(back->values<float>(), ElementsAre(1.5f, -3.0f));
}

TEST(NpyTest, ReadsTheOtherByteOrder) {
  absl::StatusOr<Tensor> t =
      ParseNpy(Npy(Header(">i4", "(2,)"),
                   std::string("\x00\x00\x00\x05\xFF\xFF\xFF\xFE", 8)));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_THAT(t->values<int32_t>(), ElementsAre(5, -2));
}

TEST(NpyTest, ReadsFortranOrder) {
  absl::StatusOr<Tensor> t = ParseNpy(Npy(
      Header("|i1", "(2, 3)", "True"), Raw<int8_t>({11, 21, 12, 22, 13, 23})));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_THAT(t->values<int8_t>(), ElementsAre(11, 12, 13, 21, 22, 23));
  t = ParseNpy(Npy(Header("|i1", "(2, 2, 2)", "True"),
                   Raw<int8_t>({111, 11, 121, 21, 112, 12, 122, 22})));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_THAT(t->values<int8_t>(),
              ElementsAre(111, 112, 121, 122, 11, 12, 21, 22));
}

TEST(NpyTest, BoolsBecomeZeroOrOne) {
  absl::StatusOr<Tensor> t =
      ParseNpy(Npy(Header("|b1", "(3,)"), std::string("\x00\x01\x02", 3)));
  ASSERT_TRUE(t.ok());
  EXPECT_THAT(t->values<uint8_t>(), ElementsAre(0, 1, 1));
}

TEST(NpyTest, RefusesOtherTypes) {
  for (const char* descr : {"|O", "<U5", "<c8", "<M8", "|S4", "|V2", "<f3"}) {
    EXPECT_THAT(Error(Npy(Header(descr, "(1,)"), "12345678")),
                HasSubstr("no tensor can have"))
        << descr;
  }
  EXPECT_THAT(Error(Npy("{'descr': [('x', '<f4')], 'fortran_order': False, "
                        "'shape': (1,), }",
                        "1234")),
              HasSubstr("records"));
}

TEST(NpyTest, RefusesBrokenFiles) {
  EXPECT_THAT(Error(""), HasSubstr("does not start"));
  EXPECT_THAT(Error("PK\x03\x04 something else"), HasSubstr("does not start"));
  EXPECT_THAT(Error(Npy(Header("<f4", "(1,)"), "1234", 4)),
              HasSubstr("version 4"));
  const std::string good = Npy(Header("<f4", "(2,)"), "12345678");
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(Error(good.substr(0, size)), "parsed") << size;
  }
  EXPECT_THAT(Error(good + "x"), HasSubstr("takes 8 bytes, and it has 9"));
}

TEST(NpyTest, RefusesSizesThatOverflow) {
  for (const char* shape :
       {"(9223372036854775807, 2)", "(4611686018427387904,)",
        "(99999999999999999999,)", "(4294967296, 4294967296, 4294967296)",
        "(-1,)", "(1.5,)", "(1 2)", "1", "(1,"}) {
    EXPECT_NE(Error(Npy(Header("<f4", shape), "1234")), "parsed") << shape;
  }
  std::string deep = "(";
  for (int i = 0; i < 65; ++i) deep += "1, ";
  EXPECT_NE(Error(Npy(Header("|i1", deep + ")"), "1")), "parsed");
}

TEST(NpyTest, RefusesStrangeHeaders) {
  for (const char* header :
       {"", "{", "{}", "[]", "{'descr': '<f4'}", "{'descr: '<f4'}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, "
        "'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}"}) {
    EXPECT_NE(Error(Npy(header, "1234")), "parsed") << header;
  }
}

}  // namespace
}  // namespace ingot
