// Artifacts that nobody compiled, and calls that no plan would make.
#include "backends/image/loader.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/function.h"
#include "runtime/module.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::shared_ptr<Module>> Load(
    const std::vector<std::string>& texts) {
  std::vector<Artifact> group(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    group[i].file_name = "some.image";
    group[i].content = Blob::FromString(texts[i]);
  }
  LoaderRegistry loaders;
  EXPECT_TRUE(RegisterImageLoader(&loaders).ok());
  const ArtifactSet set;
  LoadContext context{set, nullptr, {}, nullptr};
  return (**loaders.Find("image"))(group, context);
}

// Calls the only function `f` of a module.
absl::Status Call(const std::string& text, std::vector<Tensor> tensors) {
  const auto module = Load({text});
  if (!module.ok()) return module.status();
  std::vector<DLManagedTensor*> managed;
  std::vector<DLTensor*> arguments;
  for (const Tensor& tensor : tensors) {
    managed.push_back(tensor.ToDlpack());
    arguments.push_back(&managed.back()->dl_tensor);
  }
  const absl::Status status = (*module)->GetFunction("f")->Call(arguments);
  for (DLManagedTensor* m : managed) m->deleter(m);
  return status;
}

Tensor Bytes(const std::string& text) {
  const int64_t size = static_cast<int64_t>(text.size());
  Tensor tensor = *Tensor::Empty(DataType::UInt(8), {size});
  text.copy(reinterpret_cast<char*>(tensor.mutable_data<uint8_t>()), size);
  return tensor;
}

TEST(ImageLoader, RefusesOtherTexts) {
  for (const char* text : {"f", "f image_size 1", "f decode", "\x01",
                           "f image_size\ng image_size"}) {
    const absl::Status status = Load({text}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("needs one line"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("some.image"));
  }
  EXPECT_EQ(Load({"# nothing"}).status().message(), "some.image: has no line");
  EXPECT_FALSE(Load({"f image_size", "f image_size"}).ok());
  EXPECT_TRUE(Load({"f image_size", "g decode_image"}).ok());
}

TEST(ImageLoader, ChecksItsCalls) {
  const Tensor file = Bytes("P5 2 1 255 ab");
  Tensor size = *Tensor::Empty(DataType::Int(64), {2});
  Tensor pixels = *Tensor::Empty(DataType::UInt(8), {1, 2, 3});
  ASSERT_EQ(Call("f image_size", {file, size}), absl::OkStatus());
  EXPECT_THAT(size.values<int64_t>(), ElementsAre(1, 2));
  ASSERT_EQ(Call("f decode_image", {file, pixels}), absl::OkStatus());
  EXPECT_THAT(pixels.values<uint8_t>(),
              ElementsAre('a', 'a', 'a', 'b', 'b', 'b'));
  // Another size than the image's; another file than the one of the size.
  EXPECT_THAT(
      std::string(
          Call("f decode_image", {Bytes("P5 1 1 255 a"), pixels}).message()),
      HasSubstr("the image is 1 x 1, not 1 x 2"));
  const Tensor empty = *Tensor::Empty(DataType::UInt(8), {0, 0, 3});
  EXPECT_EQ(Call("f decode_image", {Bytes("none"), empty}), absl::OkStatus());
  const Tensor square = *Tensor::Empty(DataType::UInt(8), {2, 2});
  const Tensor gray = *Tensor::Empty(DataType::UInt(8), {1, 2, 1});
  for (const auto& wrong : std::vector<std::vector<Tensor>>{
           {}, {file}, {size, size}, {square, size}, {file, pixels}}) {
    EXPECT_FALSE(Call("f image_size", wrong).ok());
  }
  for (const auto& wrong : std::vector<std::vector<Tensor>>{
           {file, size}, {file, gray}, {file, square}, {square, pixels}}) {
    EXPECT_FALSE(Call("f decode_image", wrong).ok());
  }
}

}  // namespace
}  // namespace ingot
