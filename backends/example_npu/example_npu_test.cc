#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "artifact/artifact_set.h"
#include "artifact/inspector.h"
#include "backends/example_npu/inspectors.h"
#include "backends/example_npu/stream.h"
#include "backends/testing/run_model.h"
#include "backends/testing/run_regions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using testing_support::CompareWithEvaluate;
using testing_support::CompileRelay;
using testing_support::StoreAndLoad;

// All of a function's nodes on the device.
absl::Status Compare(const std::string& inputs, const std::string& nodes) {
  return CompareWithEvaluate(
      "example_npu", absl::StrCat("module { func @main(", inputs, ") -> (%y) {",
                                  nodes, "} }"));
}

// A tensor in text, of small values.
std::string Weights(const std::string& shape, int count) {
  std::vector<std::string> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(absl::StrCat((i * 37 + 11) % 255 - 127));
  }
  return absl::StrCat("%w = const i8[", shape, "] {",
                      absl::StrJoin(values, ", "), "} ");
}

TEST(ExampleNpu, RunsIntegerProducts) {
  // Within a tile, exactly one, and over the edges of several.
  EXPECT_EQ(Compare("%x: i8[3, 4]", Weights("4, 5", 20) +
                                        "%y = matmul(%x, %w) {out_dtype=i32}"),
            absl::OkStatus());
  EXPECT_EQ(
      Compare("%x: u8[16, 16]",
              Weights("16, 16", 256) + "%y = matmul(%x, %w) {out_dtype=i32}"),
      absl::OkStatus());
  EXPECT_EQ(
      Compare("%x: i8[2, 3, 37]",
              Weights("37, 18", 666) + "%y = matmul(%x, %w) {out_dtype=i32}"),
      absl::OkStatus());
}

TEST(ExampleNpu, RunsConvolutions) {
  const struct {
    const char *input, *weights, *attrs;
    int count;
  } cases[] = {
      {"1, 1, 5, 5", "1, 1, 3, 3", "", 9},
      {"1, 3, 7, 20", "18, 3, 3, 3", "pads=[1, 1, 1, 1], ", 486},
      {"2, 17, 6, 19", "3, 17, 2, 2", "strides=[2, 3], ", 204},
      {"1, 2, 9, 9", "4, 2, 3, 3",
       "dilations=[2, 3], pads=[2, 3, 1, 2], strides=[2, 1], ", 72},
      {"1, 1, 3, 3", "2, 1, 1, 5", "pads=[0, 4, 0, 4], ", 10},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Compare(absl::StrCat("%x: i8[", c.input, "]"),
                      absl::StrCat(Weights(c.weights, c.count),
                                   "%y = conv2d(%x, %w) {", c.attrs,
                                   "out_dtype=i32}")),
              absl::OkStatus())
        << c.input << " " << c.weights << " " << c.attrs;
  }
}

// As QLinearMatMul and QLinearConv import: zero points, bias, scales.
constexpr char kQuantized[] =
    "%p = const i32[] {3} %i = cast(%x) {dtype=i32} %d = sub(%i, %p) ";

TEST(ExampleNpu, RunsQuantizedMatmul) {
  for (const char* dtype : {"i8", "u8"}) {
    EXPECT_EQ(
        Compare("%x: u8[5, 20]",
                absl::StrCat(Weights("20, 4", 80), kQuantized,
                             "%s = matmul(%d, %w) {out_dtype=i32} "
                             "%f = cast(%s) {dtype=f32} "
                             "%sc = const f32[1, 4] {0.01, 0.02, 0.03, 0.005} "
                             "%r = mul(%f, %sc) %so = const f32[] {0.37} "
                             "%z = const ",
                             dtype,
                             "[] {7} "
                             "%y = quantize(%r, %so, %z) {dtype=",
                             dtype, "}")),
        absl::OkStatus());
  }
}

TEST(ExampleNpu, RunsQuantizedConvolutionsInARow) {
  // Two composites in one region, with a tensor of the device between them.
  EXPECT_EQ(
      Compare(
          "%x: u8[1, 2, 6, 6]",
          absl::StrCat(Weights("4, 2, 3, 3", 72), kQuantized,
                       "%s = conv2d(%d, %w) {out_dtype=i32, pads=[1, 1, 1, 1]} "
                       "%b = const i32[4, 1, 1] {100, -2000, 3, 40} "
                       "%t = add(%s, %b) %f = cast(%t) {dtype=f32} "
                       "%sc = const f32[] {0.05} %r = mul(%f, %sc) "
                       "%so = const f32[] {0.5} %z = const i8[] {-2} "
                       "%q = quantize(%r, %so, %z) {dtype=i8} "
                       "%w2 = const i8[1, 4, 1, 1] {1, -2, 3, 4} "
                       "%y = conv2d(%q, %w2) {out_dtype=i32}")),
      absl::OkStatus());
}

// One product of matrices, all of it for the device.
absl::StatusOr<ArtifactSet> CompileProduct() {
  return CompileRelay(
      "example_npu", absl::StrCat("module { func @main(%x: i8[3, 4]) -> (%y) {",
                                  Weights("4, 5", 20),
                                  "%y = matmul(%x, %w) {out_dtype=i32} } }"));
}

TEST(ExampleNpu, MakesTwoArtifactsForTwoLoaders) {
  auto set = CompileProduct();
  ASSERT_TRUE(set.ok()) << set.status();
  std::vector<std::string> loaders;
  for (const Artifact& artifact : set->artifacts()) {
    if (artifact.codegen_id == "example_npu") {
      loaders.push_back(artifact.loader);
    }
    if (artifact.loader == "native") {
      EXPECT_THAT(std::string(artifact.content.view()), HasSubstr(R"(
  const Buffer arguments[] = {{(void*)in0, 12}, {(void*)in1, 20}, {(void*)out0, 60}};
  return LAUNCH(self, arguments, 3);
)"));
    }
  }
  EXPECT_THAT(loaders,
              ::testing::UnorderedElementsAre("native", "example_npu"));
}

// A matrix without rows, and one with a single channel and scale.
TEST(ExampleNpu, RunsOddSizes) {
  EXPECT_EQ(Compare("%x: i8[0, 4]", Weights("4, 5", 20) +
                                        "%y = matmul(%x, %w) {out_dtype=i32}"),
            absl::OkStatus());
  EXPECT_EQ(Compare("%x: i8[3, 1]",
                    Weights("1, 1", 1) + "%y = matmul(%x, %w) {out_dtype=i32}"),
            absl::OkStatus());
}

// Eight bits wrap around where the device would not.
TEST(ExampleNpu, LeavesSumsOfOtherWidths) {
  for (const char* between :
       {"%c = cast(%x) {dtype=i8}", "%p = const u8[] {3} %c = sub(%x, %p)"}) {
    EXPECT_THAT(
        std::string(Compare("%x: u8[3, 4]",
                            absl::StrCat(Weights("4, 5", 20), between,
                                         "%y = matmul(%c, %w) {out_dtype=i32}"))
                        .message()),
        HasSubstr("took nothing"))
        << between;
  }
  EXPECT_EQ(Compare("%x: u8[3, 4]",
                    absl::StrCat(Weights("4, 5", 20),
                                 "%c = cast(%x) {dtype=i32}"
                                 "%y = matmul(%c, %w) {out_dtype=i32}")),
            absl::OkStatus());
}

TEST(ExampleNpu, LeavesWhatItCannotDo) {
  // Weights that are no constant, groups, a bias that is a vector of pixels.
  EXPECT_EQ(CompareWithEvaluate(
                "example_npu,llvm",
                absl::StrCat("module { func @main(%x: i8[1, 2, 4, 4], "
                             "%v: i8[16, 3]) -> (%y, %z) {",
                             Weights("2, 1, 2, 2", 8),
                             "%y = conv2d(%x, %w) {groups=2, out_dtype=i32} "
                             "%w2 = const i8[4, 4] {1, 2, 3, 4, 5, 6, 7, 8, 9, "
                             "1, 2, 3, 4, 5, 6, 7} "
                             "%z = matmul(%x, %w2) {out_dtype=i32} } }")),
            absl::OkStatus());
}

// Its padding is zeros, and its images have their channels in one piece.
TEST(ExampleNpu, LeavesOtherPaddingAndLayouts) {
  const struct {
    std::string input, nodes;
  } cases[] = {
      {"u8[1, 2, 5, 5]", Weights("3, 2, 3, 3", 54) +
                             "%y = conv2d(%x, %w) {out_dtype=i32, "
                             "pads=[1, 1, 1, 1], pad_value=7}"},
      {"u8[1, 1, 5, 5, 4]", Weights("1, 1, 3, 3, 4, 4", 144) +
                                "%y = conv2d(%x, %w) {out_dtype=i32, "
                                "data_layout=\"NCHW4c\", "
                                "kernel_layout=\"OIHW4i4o\"}"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(std::string(Compare("%x: " + c.input, c.nodes).message()),
                HasSubstr("took nothing"))
        << c.input;
  }
}

// Code of two processors in one set: each under its key, both loaded.
TEST(ExampleNpu, TheDevicesKeyHasTheStreamAndTheHostsTheLauncher) {
  const std::string product = absl::StrCat(
      "module { func @main(%x: i8[3, 4]) -> (%y) {", Weights("4, 5", 20),
      "%s = matmul(%x, %w) {out_dtype=i32} "
      "%f = cast(%s) {dtype=f32} %y = sqrt(%f) } }");
  const char* const targets = "npu: example_npu,llvm";
  auto set = CompileRelay(targets, product);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_NE(set->Find("npu", "example_npu", "test_npu_0.npu"), nullptr);
  EXPECT_EQ(set->Find("host", "example_npu", "test_npu_0.npu"), nullptr);
  const Artifact* launcher =
      set->Find("host", "example_npu", "test_npu_0_launch.c");
  ASSERT_NE(launcher, nullptr);
  EXPECT_EQ(launcher->loader, kNativeLoader);
  EXPECT_EQ(CompareWithEvaluate(targets, product, 1, {1e-6}), absl::OkStatus());
}

TEST(ExampleNpu, CommandsCanBeRead) {
  const auto set = CompileProduct();
  ASSERT_TRUE(set.ok()) << set.status();
  InspectorRegistry inspectors;
  ASSERT_TRUE(RegisterExampleNpuInspectors(&inspectors).ok());
  const Artifact* stream =
      set->Find("example_npu", "example_npu", "test_example_npu_0.npu");
  ASSERT_NE(stream, nullptr);
  ASSERT_EQ(inspectors.Find(*stream).size(), 1u);
  EXPECT_EQ(
      *inspectors.Find(*stream)[0]->inspect(*stream, {}),
      R"(arguments of 12, 20, 60 bytes, of which the first 2 are only read; 0 bytes of temporaries, 0 bytes of constants
command 0: i32[3, 5, 1, 1] = i8[3, 4, 1, 1] * i8[5, 4, 1, 1] transposed, stride 1 1, dilation 1 1, pad 0 0
  input: argument 0 + 0, 12 bytes
  weights: argument 1 + 0, 20 bytes
  output: argument 2 + 0, 60 bytes
)");
}

// From the set to the device and back: an error there is one of the call.
TEST(ExampleNpu, AStreamThatIsNotTheLaunchersIsAnError) {
  auto set = CompileProduct();
  ASSERT_TRUE(set.ok()) << set.status();
  ArtifactSet changed;
  changed.mutable_provenance() = set->provenance();
  for (Artifact artifact : set->artifacts()) {
    if (artifact.loader == "example_npu") {
      artifact.content =
          Blob::FromString(example_npu::WriteStream(example_npu::Stream()));
    }
    ASSERT_TRUE(changed.Add(std::move(artifact)).ok());
  }
  auto model = StoreAndLoad(changed);
  ASSERT_TRUE(model.ok()) << model.status();
  Tensor x = *Tensor::Empty(DataType::Int(8), {3, 4});
  EXPECT_THAT(
      std::string(testing_support::RunModel(*model, {x}).status().message()),
      HasSubstr("test_example_npu_0.npu: it is for other arguments than its "
                "launcher's"));
}

}  // namespace
}  // namespace ingot
