// Every operator that the target takes, beside relay's own meaning of it.

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "backends/dnnl/region_test_support.h"
#include "compiler/relay/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::dnnl_backend {
namespace {

using ::testing::HasSubstr;

class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}
  int64_t Between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  std::vector<int64_t> Some(size_t count, int64_t low, int64_t high) {
    std::vector<int64_t> values;
    for (size_t i = 0; i < count; ++i) values.push_back(Between(low, high));
    return values;
  }

 private:
  std::mt19937 random_;
};

std::string List(const std::vector<int64_t>& values) {
  return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
}

// One operator on the operands of those types, the first ones inputs.
std::string One(const std::string& op, const std::vector<std::string>& types,
                size_t inputs = 1) {
  std::vector<std::string> params, names;
  std::string constants;
  for (size_t i = 0; i < types.size(); ++i) {
    names.push_back(absl::StrCat("%x", i));
    if (i < inputs) {
      params.push_back(absl::StrCat("%x", i, ": ", types[i]));
    } else {
      absl::StrAppend(&constants, "    %x", i, " = const ", types[i],
                      " random(", i, ")\n");
    }
  }
  const size_t brace = op.find(' ');
  const std::string name = op.substr(0, brace);
  const std::string attrs = brace == std::string::npos ? "" : op.substr(brace);
  return absl::StrCat("module {\n  func @main(", absl::StrJoin(params, ", "),
                      ") -> (%y) {\n", constants, "    %y = ", name, "(",
                      absl::StrJoin(names, ", "), ")", attrs, "\n  }\n}\n");
}

// Whether the target says that it takes the last operator of the text.
absl::Status Supported(const std::string& text) {
  auto module = relay::ReadModule(text);
  if (!module.ok()) return absl::InternalError(module.status().message());
  return DnnlKind().Takes(*ParseTarget("dnnl"),
                          *(*module)->main()->outputs[0].node);
}

void ExpectTaken(const std::string& text, float low = -1, float high = 1,
                 double tolerance = 1e-5) {
  absl::Status supported = Supported(text);
  ASSERT_TRUE(supported.ok()) << supported << "\n" << text;
  ExpectRegionMeans(text, low, high, tolerance);
}

// A call either fits or is refused; it never gives a wrong result.
bool ExpectTakenOrRefused(const std::string& text, double tolerance = 1e-5) {
  if (!Supported(text).ok()) return false;
  ExpectRegionMeans(text, -1, 1, tolerance);
  return true;
}

TEST(DnnlOperators, RandomConvolutions) {
  Dice dice(1);
  for (int i = 0; i < 60; ++i) {
    const size_t n = static_cast<size_t>(dice.Between(1, 3));
    const std::vector<int64_t> kernel = dice.Some(n, 1, 4),
                               dilations = dice.Some(n, 1, 2);
    const bool depthwise = dice.Between(0, 3) == 0;
    const int64_t groups = depthwise ? dice.Between(2, 20) : dice.Between(1, 3);
    const int64_t in = depthwise ? 1 : dice.Between(1, 12);
    const int64_t out = depthwise ? 1 : dice.Between(1, 12);
    std::vector<int64_t> x = {dice.Between(1, 2), in * groups},
                         w = {out * groups, in};
    for (size_t d = 0; d < n; ++d) {
      x.push_back((kernel[d] - 1) * dilations[d] + dice.Between(1, 8));
      w.push_back(kernel[d]);
    }
    ExpectTaken(
        One(absl::Substitute(
                "conv$0d {dilations=$1, groups=$2, pads=$3, strides=$4}", n,
                List(dilations), groups, List(dice.Some(2 * n, 0, 2)),
                List(dice.Some(n, 1, 3))),
            {absl::StrCat("f32", List(x)), absl::StrCat("f32", List(w))},
            static_cast<size_t>(dice.Between(1, 2))));
  }
}

TEST(DnnlOperators, RandomPools) {
  Dice dice(2);
  int taken = 0;
  for (int i = 0; i < 80; ++i) {
    const size_t n = static_cast<size_t>(dice.Between(1, 3));
    const std::vector<int64_t> kernel = dice.Some(n, 1, 4),
                               dilations = dice.Some(n, 1, 1 + i % 2);
    std::vector<int64_t> x = {dice.Between(1, 2), dice.Between(1, 20)}, pads;
    for (size_t d = 0; d < n; ++d) {
      x.push_back((kernel[d] - 1) * dilations[d] + dice.Between(1, 8));
    }
    for (size_t d = 0; d < 2 * n; ++d) {
      pads.push_back(dice.Between(0, (kernel[d % n] - 1)));
    }
    const bool average = i % 3 != 0;
    taken += ExpectTakenOrRefused(One(
        absl::Substitute("$0_pool$1d {ceil_mode=$2, $3dilations=$4, kernel=$5, "
                         "pads=$6, strides=$7}",
                         average ? "avg" : "max", n, dice.Between(0, 1),
                         average ? absl::StrCat("count_include_pad=",
                                                dice.Between(0, 1), ", ")
                                 : "",
                         List(dilations), List(kernel), List(pads),
                         List(dice.Some(n, 1, 3))),
        {absl::StrCat("f32", List(x))}));
  }
  EXPECT_GT(taken, 60);
  for (const char* pool : {"global_avg_pool", "global_max_pool"}) {
    ExpectTaken(One(absl::StrCat(pool, "1d"), {"f32[2, 5, 7]"}));
    ExpectTaken(One(absl::StrCat(pool, "2d"), {"f32[2, 16, 7, 5]"}));
    ExpectTaken(One(absl::StrCat(pool, "3d"), {"f32[1, 3, 2, 4, 5]"}));
  }
}

TEST(DnnlOperators, RandomProducts) {
  Dice dice(3);
  for (int i = 0; i < 40; ++i) {
    const int64_t m = dice.Between(1, 20), k = dice.Between(1, 40),
                  n = dice.Between(1, 40);
    std::vector<int64_t> a = dice.Some(dice.Between(0, 3), 1, 3);
    a.insert(a.end(), {m, k});
    const size_t inputs = static_cast<size_t>(dice.Between(1, 2));
    ExpectTaken(
        One("dense",
            {absl::StrCat("f32", List(a)), absl::StrCat("f32", List({n, k}))},
            inputs));
    // Some leading dimensions of either are 1 or left out.
    std::vector<int64_t> b;
    const size_t leading = static_cast<size_t>(
        dice.Between(0, static_cast<int64_t>(a.size()) - 2));
    for (size_t d = 0; d < leading; ++d) {
      b.push_back(dice.Between(0, 2) == 0 ? 1 : a[a.size() - 2 - leading + d]);
    }
    b.insert(b.end(), {k, n});
    if (dice.Between(0, 2) == 0 && a.size() > 2) a[0] = 1;
    ExpectTaken(One(
        "matmul", {absl::StrCat("f32", List(a)), absl::StrCat("f32", List(b))},
        inputs));
  }
}

TEST(DnnlOperators, Eltwise) {
  for (const char* op : {"relu",
                         "leaky_relu",
                         "leaky_relu {alpha=0.3}",
                         "elu",
                         "elu {alpha=0.5}",
                         "sigmoid",
                         "tanh",
                         "gelu",
                         "gelu {approximate=\"tanh\"}",
                         "hard_swish",
                         "swish",
                         "swish {alpha=1.702}",
                         "mish",
                         "softplus",
                         "exp",
                         "abs",
                         "round",
                         "neg",
                         "clip {max=1.5, min=-0.5}",
                         "clip {min=0.0}"}) {
    SCOPED_TRACE(op);
    ExpectTaken(One(op, {"f32[2, 3, 5]"}), -8, 8);
    ExpectTaken(One(op, {"f32[37]"}), -1, 1);
  }
  for (const char* op : {"sqrt", "log"}) {
    ExpectTaken(One(op, {"f32[3, 70]"}), 0.01, 9);
  }
  // The ends of the range.
  ExpectTaken(One("sigmoid", {"f32[64]"}), -200, 200);
  ExpectTaken(One("softplus", {"f32[64]"}), -200, 200);
  ExpectTaken(One("tanh", {"f32[64]"}), -200, 200);
}

TEST(DnnlOperators, Binary) {
  for (const char* op : {"add", "sub", "mul", "div", "maximum", "minimum"}) {
    SCOPED_TRACE(op);
    ExpectTaken(One(op, {"f32[2, 8, 5, 3]", "f32[2, 8, 5, 3]"}, 2), 0.5, 2);
    for (const char* other :
         {"f32[1, 8, 1, 1]", "f32[8, 1, 1]", "f32[3]", "f32[5, 1]", "f32[1]",
          "f32[5, 3]", "f32[2, 1, 1, 1]", "f32[8, 5, 1]", "f32[2, 8, 1, 1]"}) {
      ExpectTaken(One(op, {"f32[2, 8, 5, 3]", other}, 2), 0.5, 2);
    }
    for (const char* other : {"f32[2, 1, 1, 3]", "f32[8, 1, 3]"}) {
      EXPECT_FALSE(Supported(One(op, {"f32[2, 8, 5, 3]", other}, 2)).ok());
    }
    ExpectTaken(One(op, {"f32[2, 1, 5, 3]", "f32[2, 1, 5, 1]"}, 2), 0.5, 2);
  }
  ExpectTaken(One("add", {"f32[3]", "f32[2, 3]"}, 2));
  EXPECT_FALSE(Supported(One("sub", {"f32[3]", "f32[2, 3]"}, 2)).ok());
  // One number, on either side.
  for (const char* op : {"add", "sub", "mul", "div"}) {
    const std::string text = absl::Substitute(
        "module { func @main(%x: f32[2, 9]) -> (%y, %z) {\n"
        "  %c = const f32[1] fill(1.75)\n"
        "  %y = $0(%x, %c)\n  %z = $0(%c, %y)\n } }",
        op);
    if (std::string(op) == "div") continue;
    ExpectRegionMeans(text);
  }
}

TEST(DnnlOperators, Normalizations) {
  for (const char* type : {"f32[2, 8]", "f32[2, 9, 3]", "f32[2, 16, 4, 5]",
                           "f32[1, 3, 2, 4, 5]"}) {
    const std::string x = type;
    const std::string c =
        absl::StrCat("f32[", x.substr(7, x.find_first_of(",]", 7) - 7), "]");
    ExpectRegionMeans(absl::Substitute(
        "module { func @main(%x: $0) -> (%y) {\n"
        "  %s = const $1 random(1)\n  %b = const $1 random(2)\n"
        "  %m = const $1 random(3)\n  %v = const $1 fill(0.7)\n"
        "  %y = batch_norm(%x, %s, %b, %m, %v) {epsilon=0.01}\n } }",
        x, c));
  }
  ExpectTaken(One("layer_norm", {"f32[4, 33]", "f32[33]", "f32[33]"}));
  ExpectTaken(One("layer_norm {axis=2, epsilon=0.001}",
                  {"f32[2, 5, 64]", "f32[64]", "f32[1, 1, 64]"}));
  ExpectTaken(One("layer_norm", {"f32[2, 5, 16]", "f32[16]"}));
  EXPECT_FALSE(Supported(One("layer_norm {axis=1}",
                             {"f32[2, 5, 64]", "f32[5, 64]", "f32[5, 64]"}))
                   .ok());
  for (const char* op : {"softmax", "log_softmax"}) {
    for (int axis : {-1, 0, 1, 2}) {
      ExpectTaken(
          One(absl::StrCat(op, " {axis=", axis, "}"), {"f32[3, 17, 20]"}), -9,
          9);
    }
    ExpectTaken(One(absl::StrCat(op, " {axis=1}"), {"f32[2, 16, 3, 3]"}), -9,
                9);
    ExpectTaken(One(op, {"f32[50]"}), -90, 90);
  }
}

TEST(DnnlOperators, Lrn) {
  for (const char* type :
       {"f32[2, 9, 4, 5]", "f32[1, 16, 6, 6]", "f32[1, 64, 9, 9]"}) {
    ExpectTaken(One("lrn {size=5}", {type}), -9, 9);
    ExpectTaken(One("lrn {alpha=0.3, beta=0.5, bias=2.0, size=3}", {type}), -9,
                9);
  }
  EXPECT_FALSE(Supported(One("lrn {size=4}", {"f32[1, 8, 2, 2]"})).ok());
}

TEST(DnnlOperators, Concat) {
  for (int axis : {0, 1, 2}) {
    std::vector<std::string> types;
    for (int k = 1; k <= 3; ++k) {
      std::vector<int64_t> shape = {2, 3, 4};
      shape[axis] = k;
      types.push_back(absl::StrCat("f32", List(shape)));
    }
    ExpectTaken(One(absl::StrCat("concat {axis=", axis, "}"), types, 2));
  }
  ExpectTaken(One("concat {axis=0}", {"f32[4]"}));
}

TEST(DnnlOperators, Resize) {
  for (const char* sizes :
       {"[1, 8, 10, 12]", "[1, 8, 3, 2]", "[1, 8, 7, 9]", "[1, 8, 5, 6]"}) {
    ExpectTaken(One(absl::StrCat("resize {mode=\"linear\", sizes=", sizes, "}"),
                    {"f32[1, 8, 5, 6]"}));
  }
  ExpectTaken(
      One("resize {mode=\"linear\", sizes=[2, 3, 14]}", {"f32[2, 3, 7]"}));
  for (const char* modes : {"", ", nearest_mode=\"round_prefer_ceil\"",
                            ", coordinate_transformation_mode=\"asymmetric\", "
                            "nearest_mode=\"floor\""}) {
    ExpectTaken(
        One(absl::StrCat("resize {mode=\"nearest\", sizes=[1, 8, 10, 18]",
                         modes, "}"),
            {"f32[1, 8, 5, 6]"}));
  }
  EXPECT_FALSE(Supported(One("resize {mode=\"nearest\", nearest_mode=\"ceil\", "
                             "sizes=[1, 8, 10, 6]}",
                             {"f32[1, 8, 5, 6]"}))
                   .ok());
  EXPECT_FALSE(Supported(One("resize {mode=\"nearest\", sizes=[1, 8, 7, 6]}",
                             {"f32[1, 8, 5, 6]"}))
                   .ok());
  EXPECT_FALSE(
      Supported(One("resize {coordinate_transformation_mode=\"align_corners\", "
                    "mode=\"linear\", sizes=[1, 8, 10, 12]}",
                    {"f32[1, 8, 5, 6]"}))
          .ok());
}

TEST(DnnlOperators, SaysWhyNot) {
  const auto why = [](const std::string& text) {
    return std::string(Supported(text).message());
  };
  EXPECT_THAT(why(One("relu", {"f16[3]"})), HasSubstr("only f32"));
  EXPECT_THAT(why(One("relu", {"f32[n]"})), HasSubstr("f32[n]"));
  EXPECT_THAT(why(One("relu", {"f32[0, 3]"})), HasSubstr("[0, 3]"));
  EXPECT_THAT(why(One("sin", {"f32[3]"})), HasSubstr("sin"));
  EXPECT_THAT(why(One("clip {max=1.0}", {"f32[3]"})), HasSubstr("limits"));
  EXPECT_THAT(why(One("transpose {axes=[1, 0]}", {"f32[3, 4]"})),
              HasSubstr("outside"));
  EXPECT_THAT(why(One("conv2d {kernel_layout=\"OIHW8o\"}",
                      {"f32[1, 8, 4, 4]", "f32[1, 8, 1, 1, 8]"})),
              HasSubstr("OIHW8o"));
  EXPECT_THAT(why(One("conv2d {pads=[1, 1, 1, 1], pad_value=3}",
                      {"f32[1, 8, 4, 4]", "f32[1, 8, 1, 1]"})),
              HasSubstr("padding is not 0"));
}

}  // namespace
}  // namespace ingot::dnnl_backend
