#include "runtime/data_type.h"

#include <string>

#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(DataType, NamesRoundTrip) {
  for (const std::string name :
       {"f64", "f32", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16",
        "u32", "u64", "bool", "handle", "f32x8", "boolx4"}) {
    const auto type = DataType::Parse(name);
    ASSERT_TRUE(type.ok()) << name;
    EXPECT_EQ(type->ToString(), name);
    EXPECT_TRUE(type->HasName()) << name;
  }
  for (const int code : {0, 1, 2, 3, 4, 6, 7, 255}) {
    for (int bits = 0; bits <= 255; ++bits) {
      for (const int lanes : {0, 1, 3, 1024, 1025}) {
        DataType type;
        type.code = static_cast<uint8_t>(code);
        type.bits = static_cast<uint8_t>(bits);
        type.lanes = static_cast<uint16_t>(lanes);
        const auto parsed = DataType::Parse(type.ToString());
        EXPECT_EQ(type.HasName(), parsed.ok() && *parsed == type)
            << code << " " << bits << " " << lanes;
      }
    }
  }
}

TEST(DataType, BadNamesAreErrors) {
  for (const std::string name :
       {"", "f", "f31", "float32", "x", "f32x", "f32x0", "f32x1", "f32x-4",
        "f32x99999999999", "xf32", "F32"}) {
    const auto type = DataType::Parse(name);
    EXPECT_EQ(type.status().code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_NE(type.status().message().find(name), absl::string_view::npos);
  }
}

TEST(DataType, Bytes) {
  EXPECT_EQ(DataType::Float(32).bytes(), 4u);
  EXPECT_EQ(DataType::Float(32, 8).bytes(), 32u);
  EXPECT_EQ(DataType::Bool().bytes(), 1u);
  EXPECT_EQ(DataType::BFloat16().bytes(), 2u);
}

TEST(DataType, Predicates) {
  EXPECT_TRUE(DataType::BFloat16().is_float());
  EXPECT_TRUE(DataType::UInt(8).is_integer());
  EXPECT_FALSE(DataType::Bool().is_integer());
  EXPECT_NE(DataType::Float(16), DataType::BFloat16());
  EXPECT_EQ(DataType::Float(16, 4).element(), DataType::Float(16));
}

}  // namespace
}  // namespace ingot
