#include "tools/ingot/compare_text.h"

#include <cmath>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/text_tensor.h"

namespace ingot {
namespace {

Tensor Text(const std::vector<absl::string_view>& strings,
            const std::vector<int64_t>& shape) {
  absl::StatusOr<Tensor> tensor = TextTensor(strings, shape);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return *std::move(tensor);
}

// The same strings with more room after each.
Tensor Widened(const Tensor& text, int64_t width) {
  std::vector<int64_t> shape(text.shape().begin(), text.shape().end());
  const int64_t old_width = shape.back();
  shape.back() = width;
  Tensor wide = *Tensor::Empty(DataType::UInt(8), shape);
  uint8_t* out = wide.mutable_data<uint8_t>();
  for (int64_t i = 0; i < wide.NumElements(); ++i) {
    const int64_t at = i % width;
    out[i] = at < old_width ? text.data<uint8_t>()[i / width * old_width + at]
                            : uint8_t{0};
  }
  return wide;
}

TEST(CompareTextTest, TheWidthDoesNotCount) {
  const Tensor text = Text({"a", "", "bcd", "é"}, {2, 2});
  for (const Tensor& same : {text, Widened(text, 7)}) {
    EXPECT_TRUE(CompareText(same, text).ok());
    EXPECT_TRUE(CompareText(text, same).ok());
    EXPECT_EQ(CompareText(same, text).elements, 4);
  }
}

TEST(CompareTextTest, NamesTheFirstStringThatDiffers) {
  const Comparison c = CompareText(Widened(Text({"a", "bc", "x"}, {3}), 9),
                                   Text({"a", "bcd", "y"}, {3}));
  EXPECT_EQ(c.problem, "[1] is \"bc\" and should be \"bcd\"");
  EXPECT_EQ(c.mismatches, 2);
  EXPECT_TRUE(std::isinf(c.max_abs_err));
}

TEST(CompareTextTest, BytesAfterAZeroCount) {
  const Tensor a = Text({absl::string_view("a\0b", 3)}, {1});
  const Tensor b = Text({absl::string_view("a\0c", 3)}, {1});
  EXPECT_EQ(CompareText(a, b).problem,
            "[0] is \"a\\000b\" and should be \"a\\000c\"");
  EXPECT_TRUE(CompareText(a, a).ok());
}

TEST(CompareTextTest, ShapesAndTypesMustAgree) {
  const Tensor text = Text({"a", "b"}, {2});
  EXPECT_EQ(CompareText(Text({"a", "b"}, {1, 2}), text).problem,
            "it is u8[1, 2, 1] and should be u8[2, 1], of strings");
  EXPECT_FALSE(
      CompareText(*Tensor::Empty(DataType::Float(32), {2, 1}), text).ok());
  EXPECT_FALSE(CompareText(*Tensor::Empty(DataType::UInt(8), {}), text).ok());
  EXPECT_TRUE(CompareText(Text({}, {0}), Text({}, {0})).ok());
}

}  // namespace
}  // namespace ingot
