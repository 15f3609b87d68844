#include "runtime/safetensors.h"

#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/safetensors_writer.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

Tensor Make(DataType type, std::vector<int64_t> shape) {
  Tensor t = *Tensor::Empty(type, shape);
  auto* bytes = static_cast<uint8_t*>(t.mutable_raw_data());
  for (size_t i = 0; i < t.bytes(); ++i) bytes[i] = static_cast<uint8_t>(i);
  return t;
}

absl::string_view Bytes(const Tensor& t) {
  return absl::string_view(static_cast<const char*>(t.raw_data()), t.bytes());
}

NamedTensors Samples() {
  return {{"a/odd", Make(DataType::UInt(8), {3})},
          {"big", Make(DataType::Float(32), {16, 2})},
          {"double", Make(DataType::Float(64), {1})},
          {"empty", Make(DataType::Int(32), {0, 5})},
          {"half \"quoted\"", Make(DataType::Float(16), {5})},
          {"int", Make(DataType::Int(64), {8})},
          {"scalar", Make(DataType::BFloat16(), {})},
          {"truth", Make(DataType::Bool(), {1})}};
}

TEST(SafetensorsTest, ReadsWhatItWrites) {
  const NamedTensors samples = Samples();
  const auto blob = SafetensorsToBlob(samples);
  ASSERT_TRUE(blob.ok()) << blob.status();
  const auto read = ReadSafetensors(*blob);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), samples.size());
  for (const auto& [name, tensor] : samples) {
    const Tensor& back = read->at(name);
    EXPECT_EQ(back.TypeString(), tensor.TypeString()) << name;
    EXPECT_EQ(Bytes(back), Bytes(tensor)) << name;
    // Used where it lies.
    if (tensor.bytes() > 0) {
      const auto* at = static_cast<const uint8_t*>(back.raw_data());
      EXPECT_GE(at, blob->data()) << name;
      EXPECT_LT(at, blob->data() + blob->size()) << name;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % tensor.dtype().bytes(), 0u);
    }
    if (tensor.bytes() % 64 == 0 && tensor.bytes() > 0) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(back.raw_data()) % 64, 0u) << name;
    }
  }
}

TEST(SafetensorsTest, SameTensorsSameBytes) {
  const auto a = SafetensorsToBlob(Samples()), b = SafetensorsToBlob(Samples());
  EXPECT_EQ(a->view(), b->view());
  // No holes: the header says where the data ends.
  size_t total = 0;
  for (const auto& [name, tensor] : Samples()) total += tensor.bytes();
  EXPECT_EQ((a->size() - total) % 64, 0u);
}

TEST(SafetensorsTest, Files) {
  const std::string path = ::testing::TempDir() + "/x.safetensors";
  ASSERT_TRUE(WriteSafetensorsFile(Samples(), path).ok());
  const auto read = ReadSafetensorsFile(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->size(), Samples().size());
  EXPECT_FALSE(ReadSafetensorsFile(path + ".none").ok());
  EXPECT_FALSE(WriteSafetensorsFile(Samples(), "/no/such/folder/x").ok());
}

Blob WithHeader(std::string header, size_t data_bytes) {
  std::string bytes(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(&bytes[0], &length, 8);
  return Blob::FromString(bytes + header + std::string(data_bytes, '\1'));
}

TEST(SafetensorsTest, ForeignFilesNeedNotBeAligned) {
  const auto read = ReadSafetensors(WithHeader(
      R"({"__metadata__":{"a":"b"},"t":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
      5));
  ASSERT_TRUE(read.ok()) << read.status();
  uint32_t bits;
  std::memcpy(&bits, read->at("t").raw_data(), 4);
  EXPECT_EQ(bits, 0x01010101u);
}

TEST(SafetensorsTest, MetadataMayNameWhatTensorsHave) {
  const auto read = ReadSafetensors(WithHeader(
      R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"__metadata__":{"dtype":"F32","t":"x"}})",
      1));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->size(), 1u);
}

TEST(SafetensorsTest, RefusesWhatIsWrong) {
  const struct {
    std::string header;
    const char* error;
  } kBad[] = {
      {"", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"{", "not a JSON object"},
      {R"({"t":1})", "'t': is not an object"},
      {R"({"t":{}})", "has no dtype"},
      {R"({"t":{"dtype":1,"shape":[1],"data_offsets":[0,4]}})", "no dtype"},
      {R"({"t":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})",
       "no proper shape"},
      {R"({"t":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
       "not a size"},
      {R"({"t":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})",
       "not a size"},
      {R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
       "needs 8 bytes, but has 4"},
      {R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "lies at"},
      {R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})", "lies at"},
      {R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0]}})",
       "no proper data_offsets"},
      {R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,"4"]}})",
       "no proper data_offsets"},
      {R"({"t":{"dtype":"F8","shape":[1],"data_offsets":[0,1]}})",
       "dtype 'F8'"},
      {R"({"t":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})",
       "tensor 't'"},
      {R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"t":{}})",
       "'t' twice"},
      {std::string(200000, '['), "not a JSON object"},
  };
  for (const auto& bad : kBad) {
    const auto read = ReadSafetensors(WithHeader(bad.header, 8));
    ASSERT_FALSE(read.ok()) << bad.header;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(bad.error));
  }
  EXPECT_FALSE(ReadSafetensors(Blob()).ok());
  EXPECT_FALSE(ReadSafetensors(Blob::FromString(std::string(8, '\xff'))).ok());
  EXPECT_FALSE(SafetensorsToBlob({{"__metadata__", Make({}, {1})}}).ok());
  EXPECT_FALSE(SafetensorsToBlob({{"\xc0\x80", Make({}, {1})}}).ok());
}

TEST(SafetensorsTest, SurvivesDamage) {
  const std::string good(SafetensorsToBlob(Samples())->view());
  uint32_t state = 1;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    state = state * 1664525 + 1013904223;
    bytes[state % 700] = static_cast<char>(state >> 13);
    const auto read = ReadSafetensors(Blob::FromString(bytes));
    if (!read.ok()) continue;
    for (const auto& [name, tensor] : *read) {
      volatile size_t sum = 0;
      for (char c : Bytes(tensor)) sum = sum + static_cast<uint8_t>(c);
    }
  }
}

}  // namespace
}  // namespace ingot
