#include "runtime/onnx_tensor/test_file.h"

#include <cstdint>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onnx/onnx.pb.h"

// ONNX's own classes write the files here.
namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string WriteFile(const std::string& bytes) {
  const std::string path = testing::TempDir() + "/test_file.pb";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

absl::StatusOr<Tensor> Read(const onnx::TensorProto& proto) {
  return ReadOnnxTensorFile(WriteFile(proto.SerializeAsString()));
}

onnx::TensorProto Proto(int type, std::initializer_list<int64_t> shape) {
  onnx::TensorProto proto;
  proto.set_name("t");
  proto.set_data_type(type);
  for (int64_t d : shape) proto.add_dims(d);
  return proto;
}

TEST(TestFileTest, ReadsTypedFields) {
  onnx::TensorProto floats = Proto(onnx::TensorProto::FLOAT, {2, 1});
  floats.add_float_data(1.5f);
  floats.add_float_data(-2);
  absl::StatusOr<Tensor> tensor = Read(floats);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->TypeString(), "f32[2, 1]");
  EXPECT_THAT(tensor->values<float>(), ElementsAre(1.5f, -2));

  onnx::TensorProto bytes = Proto(onnx::TensorProto::INT8, {2});
  bytes.add_int32_data(-128);
  bytes.add_int32_data(7);
  tensor = Read(bytes);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->TypeString(), "i8[2]");
  EXPECT_THAT(tensor->values<int8_t>(), ElementsAre(-128, 7));

  onnx::TensorProto unsigned_longs = Proto(onnx::TensorProto::UINT32, {1});
  unsigned_longs.add_uint64_data(4294967295u);
  tensor = Read(unsigned_longs);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(tensor->values<uint32_t>(), ElementsAre(4294967295u));

  // A float of 16 bits comes as its bits: 1.0 is 0x3c00.
  onnx::TensorProto halves = Proto(onnx::TensorProto::FLOAT16, {1});
  halves.add_int32_data(0x3c00);
  tensor = Read(halves);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(*static_cast<const uint16_t*>(tensor->raw_data()), 0x3c00);
}

TEST(TestFileTest, ReadsRawData) {
  onnx::TensorProto proto = Proto(onnx::TensorProto::INT64, {2});
  proto.set_raw_data(std::string("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16));
  absl::StatusOr<Tensor> tensor = Read(proto);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(tensor->values<int64_t>(), ElementsAre(1, 2));
  proto.set_raw_data("short");
  EXPECT_THAT(std::string(Read(proto).status().message()),
              HasSubstr("tensor 't': has 5 bytes of data"));
}

TEST(TestFileTest, ReadsText) {
  onnx::TensorProto proto = Proto(onnx::TensorProto::STRING, {2});
  proto.add_string_data("ab");
  proto.add_string_data("c");
  absl::StatusOr<Tensor> tensor = Read(proto);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->TypeString(), "u8[2, 2]");
  EXPECT_THAT(tensor->values<uint8_t>(), ElementsAre('a', 'b', 'c', 0));
}

TEST(TestFileTest, RefusesWhatIsNoTensorOfItsOwn) {
  const std::string path = WriteFile("\xff\xff\xff");
  EXPECT_EQ(ReadOnnxTensorFile(path).status().code(),
            absl::StatusCode::kInvalidArgument);

  onnx::TensorProto elsewhere = Proto(onnx::TensorProto::FLOAT, {1});
  elsewhere.set_data_location(onnx::TensorProto::EXTERNAL);
  EXPECT_THAT(std::string(Read(elsewhere).status().message()),
              HasSubstr("its data is in another file"));

  onnx::TensorProto segment = Proto(onnx::TensorProto::FLOAT, {1});
  segment.mutable_segment()->set_begin(0);
  EXPECT_THAT(std::string(Read(segment).status().message()),
              HasSubstr("only a segment"));

  EXPECT_EQ(Read(Proto(onnx::TensorProto::COMPLEX64, {1})).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Read(Proto(99, {1})).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read(Proto(onnx::TensorProto::FLOAT, {-1})).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(
          Read(Proto(onnx::TensorProto::FLOAT, {2})).status().message()),
      HasSubstr("has 0 elements where its shape says 2"));
}

}  // namespace
}  // namespace ingot
