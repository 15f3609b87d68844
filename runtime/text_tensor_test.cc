#include "runtime/text_tensor.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(TextTensorTest, TextIsRowsOfBytes) {
  const auto text = TextTensor({"ab", "", "xyz"}, {3});
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->TypeString(), "u8[3, 3]");
  const auto* bytes = text->data<uint8_t>();
  EXPECT_EQ(bytes[0], 'a');
  EXPECT_EQ(bytes[2], 0);
  EXPECT_EQ(bytes[8], 'z');
}

TEST(TextTensorTest, RefusesWhatItCouldNotGiveBack) {
  EXPECT_TRUE(absl::IsInvalidArgument(TextTensor({"ab"}, {2}).status()));
  const absl::string_view zero("a\0", 2);
  EXPECT_TRUE(absl::IsInvalidArgument(TextTensor({zero}, {1}).status()));
}

}  // namespace
}  // namespace ingot
