// Quantised layers on the whole way: compiled, linked with the reference,
// loaded, run and compared with the interpreter, whose bytes may be 1 away.
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "backends/testing/run_regions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using testing_support::CompareWithEvaluate;
using testing_support::CompileRelay;
using testing_support::RunModel;
using testing_support::StoreAndLoad;
using testing_support::TextOf;
using testing_support::WhyNot;

constexpr char kLayers[] = "cmsis_nn -rounding=double -library=reference";
constexpr char kTarget[] = "cmsis_nn -rounding=double -library=reference,llvm";
constexpr testing_support::Tolerance kOne = {0, 1};

// The bytes %y are the result as floats, for which there are tolerances.
std::string Module(const std::string& inputs, const std::string& nodes) {
  return absl::StrCat("module { func @main(", inputs, ") -> (%f32) { ", nodes,
                      " %f32 = cast(%y) {dtype=f32} } }");
}

std::string Numbers(int count, int step) {
  std::vector<std::string> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(absl::StrCat((i * step + 11) % 255 - 127));
  }
  return absl::StrJoin(values, ", ");
}

std::string Scalar(const std::string& name, const std::string& type,
                   double value) {
  return absl::StrCat("%", name, " = const ", type, "[] {", value, "} ");
}

// %d<name>, of the bytes %<name>.
std::string Dequantize(const std::string& name, const std::string& type,
                       double scale, int zero) {
  return absl::StrCat(
      Scalar("s" + name, "f32", scale), Scalar("z" + name, type, zero), "%d",
      name, " = dequantize(%", name, ", %s", name, ", %z", name, ") ");
}

// %y, of the floats %<name>.
std::string Quantize(const std::string& name, const std::string& type,
                     double scale, int zero) {
  return absl::StrCat(Scalar("sy", "f32", scale), Scalar("zy", type, zero),
                      "%y = quantize(%", name, ", %sy, %zy) {dtype=", type,
                      "} ");
}

// %dw, with a scale for each of the outputs, which run along `axis`.
std::string Weights(const std::string& shape, int count, int outputs,
                    int axis = 0) {
  std::vector<std::string> scales;
  for (int o = 0; o < outputs; ++o) {
    scales.push_back(absl::StrCat(0.004 + 0.001 * (o % 5)));
  }
  return absl::StrCat("%w = const i8[", shape, "] {", Numbers(count, 37),
                      "} %sw = const f32[", outputs, "] {",
                      absl::StrJoin(scales, ", "),
                      "} %dw = dequantize(%w, %sw) {axis=", axis, "} ");
}

struct Convolution {
  const char *input, *weights;
  int count, outputs;
  const char* attrs;
};

constexpr Convolution kConvolutions[] = {
    {"1, 1, 5, 5", "2, 1, 3, 3", 18, 2, ""},
    {"1, 3, 8, 9", "4, 3, 3, 3", 108, 4, "{pads=[1, 1, 1, 1]}"},
    {"2, 3, 7, 7", "5, 3, 2, 3", 90, 5,
     "{strides=[2, 3], pads=[0, 1, 1, 2], dilations=[2, 1]}"},
    {"1, 4, 6, 6", "8, 4, 1, 1", 32, 8, ""},
    {"1, 4, 1, 16", "3, 4, 1, 3", 36, 3, "{pads=[0, 1, 0, 1]}"},
    {"1, 3, 7, 6", "3, 1, 3, 3", 27, 3, "{groups=3, pads=[1, 1, 1, 1]}"},
    {"1, 2, 9, 9", "6, 1, 5, 5", 150, 6, "{groups=2, strides=[2, 2]}"},
    {"2, 3, 9, 9", "3, 1, 2, 2", 12, 3, "{groups=3, dilations=[3, 2]}"},
};

TEST(CmsisNn, RunsConvolutions) {
  bool is_signed = false;
  for (const Convolution& c : kConvolutions) {
    is_signed = !is_signed;
    const std::string type = is_signed ? "i8" : "u8";
    const int zero = is_signed ? 3 : 131;
    EXPECT_EQ(CompareWithEvaluate(
                  kTarget,
                  Module(absl::StrCat("%x: ", type, "[", c.input, "]"),
                         absl::StrCat(Dequantize("x", type, 0.05, zero),
                                      Weights(c.weights, c.count, c.outputs),
                                      "%c = conv2d(%dx, %dw) ", c.attrs, " ",
                                      Quantize("c", type, 0.1, zero - 20))),
                  1, kOne),
              absl::OkStatus())
        << type << " " << c.input << " " << c.weights << " " << c.attrs;
  }
}

TEST(CmsisNn, RunsBiasesAndActivations) {
  const std::string sum = absl::StrCat(
      Dequantize("x", "i8", 0.05, -7), Weights("4, 2, 3, 3", 72, 4),
      "%c = conv2d(%dx, %dw) %b = const f32[1, 4, 1, 1] {1, -2, 0.5, 30} "
      "%a = add(%c, %b) ");
  const std::pair<const char*, int> cases[] = {{"relu(%a)", -128},
                                               {"relu(%a)", 100},
                                               {"clip(%a) {min=0, max=6}", -20},
                                               {"clip(%a) {max=2.5}", -20},
                                               {"clip(%a) {min=-1.5}", 100}};
  for (const auto& [activation, zero] : cases) {
    EXPECT_EQ(CompareWithEvaluate(
                  kTarget,
                  Module("%x: i8[1, 2, 6, 5]",
                         absl::StrCat(sum, "%r = ", activation, " ",
                                      Quantize("r", "i8", 0.1, zero))),
                  1, kOne),
              absl::OkStatus())
        << activation << " " << zero;
  }
}

// One scale for all is a fully connected layer, one for each a convolution.
TEST(CmsisNn, RunsMatrixProducts) {
  const std::string x = Dequantize("x", "u8", 0.02, 120);
  const std::string y = Quantize("b", "u8", 0.1, 100);
  const std::string bias =
      "%v = const f32[5] {1, -1, 2, 0.25, 9} %b = add(%p, %v) ";
  const struct {
    const char* input;
    std::string nodes;
  } cases[] = {
      {"3, 20", Weights("5, 20", 100, 5) + "%p = dense(%dx, %dw) "},
      {"3, 20", Weights("20, 5", 100, 5, 1) + "%p = matmul(%dx, %dw) "},
      {"2, 3, 20", Weights("20, 5", 100, 5, -1) + "%p = matmul(%dx, %dw) "},
      {"3, 20", Weights("5, 20", 100, 1) + "%p = dense(%dx, %dw) "},
      {"1, 20", Weights("20, 5", 100, 1) + "%p = matmul(%dx, %dw) "},
      {"3, 20", Weights("5, 20", 100, 5) +
                    "%t = transpose(%dw) {axes=[1, 0]} %p = matmul(%dx, %t) "},
      // Channels are not last here.
      {"1, 5, 2, 2", Weights("20, 5", 100, 1) +
                         "%f = reshape(%dx) {shape=[1, 20]} "
                         "%p = matmul(%f, %dw) "},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(CompareWithEvaluate(kTarget,
                                  Module(absl::StrCat("%x: u8[", c.input, "]"),
                                         absl::StrCat(x, c.nodes, bias, y)),
                                  1, kOne),
              absl::OkStatus())
        << c.input << " " << c.nodes;
  }
}

// QLinearConv and QLinearMatMul import like this.
TEST(CmsisNn, RunsProductsOfIntegers) {
  const std::string centred =
      "%p = const i32[] {9} %i = cast(%x) {dtype=i32} %d = sub(%i, %p) ";
  const std::string scaled = "%f = cast(%t) {dtype=f32} %m = mul(%f, %sc) " +
                             Quantize("m", "u8", 0.37, 7);
  EXPECT_EQ(
      CompareWithEvaluate(
          kTarget,
          Module("%x: u8[1, 2, 6, 6]",
                 absl::StrCat(
                     centred, "%w = const i8[4, 2, 3, 3] {", Numbers(72, 37),
                     "} %s = conv2d(%d, %w) {out_dtype=i32, strides=[2, 2]} "
                     "%b = const i32[1, 4, 1, 1] {100, -2000, 3, 40} "
                     "%t = add(%s, %b) %sc = const f32[1, 4, 1, 1] "
                     "{0.01, 0.02, 0.03, 0.005} ",
                     scaled)),
          1, kOne),
      absl::OkStatus());
  EXPECT_EQ(CompareWithEvaluate(
                kTarget,
                Module("%x: u8[5, 20]",
                       absl::StrCat("%w = const i8[20, 4] {", Numbers(80, 37),
                                    "} %t = matmul(%x, %w) {out_dtype=i32} ",
                                    Scalar("sc", "f32", 0.01), scaled)),
                1, kOne),
            absl::OkStatus());
}

TEST(CmsisNn, RunsPools) {
  const std::string window =
      "{kernel=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]}";
  const std::string x = Dequantize("x", "i8", 0.05, 4);
  const std::string same = Quantize("p", "i8", 0.05, 4);
  const struct {
    std::string nodes;
    double tolerance;
  } cases[] = {
      {"%y = max_pool2d(%x) " + window, 0},
      {absl::StrCat(x, "%p = max_pool2d(%dx) ", window, " ", same), 0},
      {absl::StrCat(x, "%p = avg_pool2d(%dx) ", window, " ", same), 1},
      {absl::StrCat(x, "%p = global_avg_pool2d(%dx) ", same), 1},
      {absl::StrCat(x, "%p = reduce_mean(%dx) {axes=[2, 3]} ", same), 1},
      {absl::StrCat(x,
                    "%g = global_avg_pool2d(%dx) "
                    "%p = reshape(%g) {shape=[1, 3]} ",
                    same),
       1},
      // Another scale makes it a convolution with ones.
      {absl::StrCat(x, "%p = avg_pool2d(%dx) {kernel=[2, 3]} ",
                    Quantize("p", "i8", 0.03, -9)),
       1},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(
        CompareWithEvaluate(kTarget, Module("%x: i8[1, 3, 7, 8]", c.nodes), 1,
                            {0, c.tolerance}),
        absl::OkStatus())
        << c.nodes;
  }
}

TEST(CmsisNn, RunsSoftmaxAndSums) {
  EXPECT_EQ(CompareWithEvaluate(
                kTarget,
                Module("%x: i8[3, 10]",
                       absl::StrCat(Dequantize("x", "i8", 0.1, 2),
                                    "%s = softmax(%dx) {axis=1} ",
                                    Quantize("s", "u8", 1.0 / 256, 0))),
                1, kOne),
            absl::OkStatus());
  EXPECT_EQ(CompareWithEvaluate(
                kTarget,
                Module("%a: u8[1, 3, 4, 5], %b: i8[1, 3, 4, 5]",
                       absl::StrCat(Dequantize("a", "u8", 0.1, 7),
                                    Dequantize("b", "i8", 0.03, -2),
                                    "%s = add(%da, %db) %r = relu(%s) ",
                                    Quantize("r", "u8", 0.02, 5))),
                1, kOne),
            absl::OkStatus());
}

// Several layers, one of which two others read: a region with values of its
// own, channels last between them.
std::string Network() {
  return Module(
      "%x: u8[1, 3, 8, 8]",
      absl::StrCat(Dequantize("x", "u8", 0.05, 120),
                   Weights("6, 3, 3, 3", 162, 6),
                   "%c = conv2d(%dx, %dw) {pads=[1, 1, 1, 1]} %r = relu(%c) "
                   "%s1 = const f32[] {0.1} %z1 = const u8[] {0} "
                   "%q1 = quantize(%r, %s1, %z1) {dtype=u8} "
                   "%d1 = dequantize(%q1, %s1, %z1) "
                   "%v = const i8[6, 1, 3, 3] {",
                   Numbers(54, 41),
                   "} %sv = const f32[] {0.005} %dv = dequantize(%v, %sv) "
                   "%e = conv2d(%d1, %dv) {groups=6, pads=[1, 1, 1, 1]} "
                   "%s2 = const f32[] {0.2} %z2 = const u8[] {128} "
                   "%q2 = quantize(%e, %s2, %z2) {dtype=u8} "
                   "%d2 = dequantize(%q2, %s2, %z2) %a = add(%d1, %d2) "
                   "%s3 = const f32[] {0.25} %z3 = const u8[] {100} "
                   "%q3 = quantize(%a, %s3, %z3) {dtype=u8} "
                   "%q4 = max_pool2d(%q3) {kernel=[2, 2], strides=[2, 2]} "
                   "%d4 = dequantize(%q4, %s3, %z3) "
                   "%f = reshape(%d4) {shape=[1, 96]} %u = const i8[96, 4] {",
                   Numbers(384, 53),
                   "} %su = const f32[] {0.003} %du = dequantize(%u, %su) "
                   "%m = matmul(%f, %du) ",
                   Quantize("m", "u8", 0.3, 128)));
}

TEST(CmsisNn, RunsNetworks) {
  // A byte that is 1 off changes what comes after it.
  for (const char* host : {"llvm", "c"}) {
    EXPECT_EQ(CompareWithEvaluate(absl::StrCat(kLayers, ",", host), Network(),
                                  1, {0, 2}),
              absl::OkStatus())
        << host;
  }
}

TEST(CmsisNn, ANetworkIsOneKernelWithCalls) {
  auto set = CompileRelay(absl::StrCat(kLayers, ",c"), Network());
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string kernels = TextOf(*set, "c");
  for (const char* call :
       {"ingot_cmsis_nn_convolve(", "ingot_cmsis_nn_depthwise(",
        "ingot_cmsis_nn_add(", "ingot_cmsis_nn_max_pool(",
        "ingot_cmsis_nn_fully_connected("}) {
    EXPECT_TRUE(absl::StrContains(kernels, call)) << call;
  }
  for (const char* file :
       {"cmsis_nn_api.h", "cmsis_nn_calls.c", "cmsis_nn_reference.c"}) {
    EXPECT_NE(set->Find("host", "cmsis_nn", file), nullptr) << file;
  }
}

TEST(CmsisNn, SaysWhyNot) {
  const auto why_not = [](const std::string& inputs, const std::string& nodes) {
    return WhyNot(kLayers, absl::StrCat("module { func @main(", inputs,
                                        ") -> (%y) { ", nodes, " } }"));
  };
  EXPECT_THAT(why_not("%x: f32[2]", "%y = relu(%x)"), HasSubstr("max_pool2d"));
  EXPECT_THAT(
      why_not("%x: i8[2, 3, 4, 4]", "%y = max_pool2d(%x) {kernel=[2, 2]}"),
      HasSubstr("only one image at a time"));
  EXPECT_THAT(
      why_not("%x: f32[1, 3, 4, 4]", "%y = max_pool2d(%x) {kernel=[2, 2]}"),
      HasSubstr("only bytes, not f32"));
}

// Where the model's order is not the library's, or a value that a composite
// begins with is no byte, the layer is another target's.
TEST(CmsisNn, LeavesWhatWouldBeAnotherLayer) {
  const std::string x = Dequantize("x", "u8", 0.02, 120);
  const std::string image =
      absl::StrCat("%w = const i8[4, 2, 3, 3] {", Numbers(72, 37), "} ",
                   "%s = conv2d(%x, %w) {out_dtype=i32} ");
  const std::string scaled = "%f = cast(%t) {dtype=f32} " +
                             Scalar("sc", "f32", 0.01) + "%m = mul(%f, %sc) " +
                             Quantize("m", "u8", 0.37, 7);
  const struct {
    std::string input, nodes, output;
  } cases[] = {
      // These are no images, whose channels would come last.
      {"2, 3, 4, 6",
       absl::StrCat(x, Weights("6, 5", 30, 5, 1), "%p = matmul(%dx, %dw) ",
                    Quantize("p", "u8", 0.1, 100)),
       "%y"},
      {"2, 24",
       absl::StrCat(x, Weights("4, 5", 20, 1),
                    "%f = reshape(%dx) {shape=[2, 2, 3, 4]} "
                    "%p = matmul(%f, %dw) ",
                    Quantize("p", "u8", 0.1, 100)),
       "%y"},
      // Nor are results of five dimensions.
      {"1, 2, 6, 6",
       absl::StrCat(image,
                    "%b = const i32[1, 1, 1, 1, 1] {100} %t = add(%s, %b) ",
                    scaled),
       "%y"},
      // A mean over all dimensions, by an attribute that is left out.
      {"1, 3, 4, 5",
       absl::StrCat(x, "%p = reduce_mean(%dx) ",
                    Quantize("p", "u8", 0.02, 120)),
       "%y"},
      // A pooled image whose channels become rows and columns of another.
      {"1, 8, 4, 5",
       absl::StrCat(x,
                    "%g = global_avg_pool2d(%dx) "
                    "%p = reshape(%g) {shape=[1, 2, 4, 1]} ",
                    Quantize("p", "u8", 0.03, 90)),
       "%y"},
      // Weights as they are, by a transpose that moves nothing.
      {"3, 5",
       absl::StrCat(x, Weights("5, 5", 25, 1),
                    "%t = transpose(%dw) {axes=[0, 1]} %p = matmul(%dx, %t) ",
                    Quantize("p", "u8", 0.1, 100)),
       "%y"},
      // The cast is not the composite's: somebody else reads it, too.
      {"1, 2, 6, 6",
       absl::StrCat("%w = const i8[4, 2, 3, 3] {", Numbers(72, 37),
                    "} %i = cast(%x) {dtype=i32} "
                    "%t = conv2d(%i, %w) {out_dtype=i32} ",
                    scaled, " %y2 = neg(%i) "),
       "%y, %y2"},
  };
  for (const auto& c : cases) {
    // An operator that the target takes makes a comparison of each.
    EXPECT_EQ(
        CompareWithEvaluate(
            kTarget, absl::StrCat("module { func @main(%x: u8[", c.input,
                                  "], %z: i8[1, 1, 3, 3]) -> (%max, ", c.output,
                                  ") { %max = max_pool2d(%z) {kernel=[2, 2]} ",
                                  c.nodes, " } }")),
        absl::OkStatus())
        << c.nodes;
  }
}

TEST(CmsisNn, RoundingMustBeGiven) {
  EXPECT_THAT(
      std::string(CompileRelay("cmsis_nn,c", Network()).status().message()),
      HasSubstr("its bytes may differ by 1"));
  EXPECT_THAT(std::string(CompileRelay("cmsis_nn -rounding=double -mcpu=znver4",
                                       Network())
                              .status()
                              .message()),
              HasSubstr("cortex-m55"));
}

// A library by its path, here one that wants more memory than any Arm does.
TEST(CmsisNn, ALibraryThatAsksForMoreIsAnError) {
  std::ifstream reference("backends/cmsis_nn/cmsis_nn_reference.c");
  std::stringstream text;
  text << reference.rdbuf();
  const std::string path = testing::TempDir() + "/greedy.c";
  std::string source = text.str();
  ASSERT_EQ(absl::StrReplaceAll({{"return is_point ? 0", "return 1 ? 1 << 20"}},
                                &source),
            1);
  std::ofstream(path) << source;
  auto set = CompileRelay(
      absl::StrCat("cmsis_nn -rounding=double -library=", path, ",c"),
      Network());
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_NE(set->Find("host", "cmsis_nn", "greedy.c"), nullptr);
  auto model = StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  Tensor x = *Tensor::Empty(DataType::UInt(8), {1, 3, 8, 8});
  EXPECT_THAT(std::string(RunModel(*model, {x}).status().message()),
              HasSubstr("ingot_cmsis_nn_convolve failed"));
}

TEST(CmsisNn, AMissingLibraryIsNamed) {
  for (const char* library : {"libcmsis-nn.a", "/no/such/library.o"}) {
    EXPECT_THAT(
        std::string(CompileRelay(absl::StrCat("cmsis_nn -rounding=double "
                                              "-library=",
                                              library, ",c"),
                                 Network())
                        .status()
                        .message()),
        HasSubstr(library));
  }
  auto set = CompileRelay("cmsis_nn -rounding=double,c", Network());
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(std::string(StoreAndLoad(*set).status().message()),
              HasSubstr("arm_convolve_wrapper_s8"));
}

}  // namespace
}  // namespace ingot
