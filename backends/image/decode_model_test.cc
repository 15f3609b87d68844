// Models that decode images, compiled, stored, loaded and run as users' are.
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/testing/run_model.h"
#include "base/status_macros.h"
#include "compiler/driver/compile.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"

namespace ingot {
namespace {

using onnx_frontend::ModelBuilder;
using ::testing::HasSubstr;

// The bytes after the line "file NAME", or the pixels after "pixels NAME".
std::string FromTestData(const std::string& what, const std::string& name) {
  std::ifstream file("backends/image/testdata/images.txt");
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, absl::StrCat(what, " ", name, " "))) continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    return absl::HexStringToBytes(words.back());
  }
  ADD_FAILURE() << "no " << what << " " << name;
  return "";
}

// 255 - each channel of an image, as floats.
ModelBuilder Negative(const std::string& pixel_format) {
  ModelBuilder b(20);
  onnx_frontend::SetString(
      b.Node("ImageDecoder", {"file"}, {"image"}, "decode"), "pixel_format",
      pixel_format);
  onnx_frontend::SetInt(b.Node("Cast", {"image"}, {"floats"}, "cast"), "to",
                        onnx::TensorProto::FLOAT);
  b.Floats("white", {}, {255});
  b.Node("Sub", {"white", "floats"}, {"y"}, "negative");
  b.Output("y");
  return b;
}

ModelBuilder NegativeOfInput(const std::string& pixel_format) {
  return Negative(pixel_format).Input("file", {"n"}, onnx::TensorProto::UINT8);
}

absl::StatusOr<ArtifactSet> Compile(
    const ModelBuilder& model, const std::string& targets,
    const std::map<std::string, std::string>& pins = {}) {
  INGOT_ASSIGN_OR_RETURN(relay::Module module, ImportOnnx(model.Build()));
  CompileOptions options;
  options.targets = *ParseTargets(targets);
  options.target_text = targets;
  options.pins = pins;
  return CompileModule(&module, "negative", "",
                       testing_support::BuiltinTargets(), options);
}

// The result that the model should have for pixels in RGB.
std::vector<float> NegativeOf(const std::string& rgb,
                              const std::string& pixel_format) {
  std::vector<float> y;
  for (size_t i = 0; i < rgb.size(); i += 3) {
    const int r = static_cast<uint8_t>(rgb[i]);
    const int g = static_cast<uint8_t>(rgb[i + 1]);
    const int b = static_cast<uint8_t>(rgb[i + 2]);
    const int gray = (19595 * r + 38470 * g + 7471 * b + 32768) >> 16;
    std::vector<int> channels = {r, g, b};
    if (pixel_format == "BGR") channels = {b, g, r};
    if (pixel_format == "Grayscale") channels = {gray};
    for (int channel : channels) y.push_back(255 - channel);
  }
  return y;
}

class DecodeModelTest : public ::testing::TestWithParam<const char*> {};

// Two sizes, what is no image, and the first size again, by one executor.
TEST_P(DecodeModelTest, RunsOnImagesOfAnySize) {
  const std::string format = GetParam();
  auto set = Compile(NegativeOfInput(format), "image,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  auto executor = testing_support::Open(*set);
  ASSERT_TRUE(executor.ok()) << executor.status();
  const int64_t channels = format == "Grayscale" ? 1 : 3;
  struct Case {
    std::string file, pixels;
    std::vector<int64_t> shape;
  };
  const std::string rgb = FromTestData("pixels", "bmp_rgb");
  const std::string photo = FromTestData("pixels", "webp_lossy");
  for (const Case& c : {
           Case{FromTestData("file", "png_rgb"), rgb, {5, 7, channels}},
           Case{FromTestData("file", "webp_lossy"), photo, {13, 19, channels}},
           Case{"no image", "", {0, 0, channels}},
           Case{"", "", {0, 0, channels}},
           Case{FromTestData("file", "tiff_rgb"), rgb, {5, 7, channels}},
       }) {
    const int64_t size = static_cast<int64_t>(c.file.size());
    Tensor file = *Tensor::Empty(DataType::UInt(8), {size});
    c.file.copy(reinterpret_cast<char*>(file.mutable_data<uint8_t>()), size);
    ASSERT_EQ((*executor)->SetInput(0, file), absl::OkStatus());
    ASSERT_EQ((*executor)->Run(), absl::OkStatus());
    const absl::StatusOr<Tensor> y = (*executor)->GetOutput(0);
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(y->shape(), absl::MakeConstSpan(c.shape));
    EXPECT_EQ(y->values<float>(),
              absl::MakeConstSpan(NegativeOf(c.pixels, format)));
  }
}

INSTANTIATE_TEST_SUITE_P(PixelFormats, DecodeModelTest,
                         ::testing::Values("RGB", "BGR", "Grayscale"),
                         [](const auto& info) { return info.param; });

TEST(DecodeModel, RunsOnAFileInTheModel) {
  ModelBuilder model = Negative("RGB");
  onnx::TensorProto* file = model.graph().add_initializer();
  const std::string bytes = FromTestData("file", "png_rgb");
  file->set_name("file");
  file->set_data_type(onnx::TensorProto::UINT8);
  file->add_dims(static_cast<int64_t>(bytes.size()));
  file->set_raw_data(bytes);
  auto set = Compile(model, "image,llvmjit");
  ASSERT_TRUE(set.ok()) << set.status();
  auto executor = testing_support::Open(*set);
  ASSERT_TRUE(executor.ok()) << executor.status();
  ASSERT_EQ((*executor)->Run(), absl::OkStatus());
  const absl::StatusOr<Tensor> y = (*executor)->GetOutput(0);
  ASSERT_TRUE(y.ok()) << y.status();
  const std::string rgb = FromTestData("pixels", "bmp_rgb");
  EXPECT_EQ(y->values<float>(), absl::MakeConstSpan(NegativeOf(rgb, "RGB")));
}

TEST(DecodeModel, WritesALineForEachOperator) {
  auto set = Compile(NegativeOfInput("RGB"), "image,c");
  ASSERT_TRUE(set.ok()) << set.status();
  std::vector<std::string> lines;
  for (const Artifact& artifact : set->artifacts()) {
    if (artifact.loader != "image") continue;
    lines.emplace_back(artifact.content.view());
  }
  EXPECT_THAT(lines, ::testing::UnorderedElementsAre(
                         "negative_image_0 image_size\n",
                         "negative_image_1 decode_image\n"));
}

// The names of the loaders that a set needs.
std::set<std::string> LoadersOf(const ArtifactSet& set) {
  std::set<std::string> loaders;
  for (const Artifact& artifact : set.artifacts()) {
    loaders.insert(artifact.loader);
  }
  return loaders;
}

TEST(DecodeModel, NeedNotNameTheTarget) {
  for (const std::string host : {"llvm", "llvmjit", "c", "dnnl,llvm"}) {
    auto set = Compile(NegativeOfInput("RGB"), host);
    ASSERT_TRUE(set.ok()) << set.status();
    EXPECT_THAT(LoadersOf(*set), ::testing::Contains("image")) << host;
  }
  // A model without images has nothing of it.
  ModelBuilder plain(20);
  plain.Input("x", {"n"}).Node("Abs", {"x"}, {"y"}, "abs");
  plain.Output("y");
  auto set = Compile(plain, "llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(LoadersOf(*set), ::testing::Not(::testing::Contains("image")));
}

// A node that must be on the host has no target that can do it.
TEST(DecodeModel, SaysWhoDoesWhatTheHostCannot) {
  const absl::Status status =
      Compile(NegativeOfInput("RGB"), "llvm", {{"decode", "llvm"}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("node 'decode'"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("is not for target llvm; target image takes it"));
  // A target after the host is never asked.
  EXPECT_THAT(
      std::string(
          Compile(NegativeOfInput("RGB"), "llvm,image").status().message()),
      HasSubstr("--target=image,llvm"));
}

TEST(DecodeModel, RefusesWhatIsNoFile) {
  ModelBuilder model = Negative("RGB");
  model.Input("file", {"n"});
  EXPECT_THAT(std::string(Compile(model, "image,llvm").status().message()),
              HasSubstr("needs the bytes of a file, u8[n], not f32[n]"));
}

TEST(DecodeModel, RefusesOtherPixelFormats) {
  EXPECT_THAT(
      std::string(
          Compile(NegativeOfInput("YUV"), "image,llvm").status().message()),
      HasSubstr("pixel_format 'YUV'"));
}

}  // namespace
}  // namespace ingot
