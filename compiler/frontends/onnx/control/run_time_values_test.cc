// Operands that other models have as constants, told by a run; and symbolic
// dimensions where others have numbers. What comes of it is what the constants
// give, which ONNX's cases compare with its own numbers.
#include <string>
#include <vector>

#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using testing::ElementsAre;
using Node = onnx::NodeProto;

void ExpectSame(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].TypeString(), b[i].TypeString());
    const auto x = a[i].values<float>(), y = b[i].values<float>();
    ExpectNear({x.begin(), x.end()}, {y.begin(), y.end()});
  }
}

// The running sums of what is scanned, from 2 on.
TEST(RunTimeValuesTest, ScansAsFarAsThereIsAnything) {
  const Operator scan{"Scan", "", 16,
                      [](Node* n) {
                        SetInt(n, "num_scan_inputs", 1);
                        auto* a = n->add_attribute();
                        a->set_name("body");
                        a->set_type(onnx::AttributeProto::GRAPH);
                        auto* add = a->mutable_g()->add_node();
                        add->set_op_type("Add");
                        for (const char* name : {"sum", "next"}) {
                          add->add_input(name);
                          a->mutable_g()->add_input()->set_name(name);
                        }
                        add->add_output("out");
                        auto* copy = a->mutable_g()->add_node();
                        copy->set_op_type("Identity");
                        copy->add_input("out");
                        copy->add_output("copy");
                        for (const char* name : {"out", "copy"}) {
                          a->mutable_g()->add_output()->set_name(name);
                        }
                      },
                      2};
  for (const std::vector<float>& x : {std::vector<float>{}, {5}, {1, 2, 3}}) {
    const Tensor scanned = Floats({static_cast<int64_t>(x.size())}, x);
    std::vector<float> sums;
    float sum = 2;
    for (const float v : x) sums.push_back(sum += v);
    for (const Operand& operand : {Operand(scanned), Symbolic(scanned)}) {
      const std::vector<Tensor> y = Outputs(scan, {Floats({}, {2}), operand});
      EXPECT_THAT(ValuesOf(y[0]), ElementsAre(sum));
      EXPECT_EQ(ValuesOf(y[1]), sums);
    }
  }
}

TEST(RunTimeValuesTest, OneHotDepth) {
  const Tensor indices = Longs({3}, {1, -1, 0}), values = Floats({2}, {0, 5});
  for (const Tensor& depth :
       {Longs({}, {3}), Longs({1}, {3}), Floats({1}, {3})}) {
    const Tensor out = Outputs({"OneHot"}, {indices, depth, values})[0];
    EXPECT_EQ(out.TypeString(), "f32[3, 3]");
    EXPECT_THAT(out.values<float>(), ElementsAre(0, 5, 0, 0, 0, 5, 5, 0, 0));
  }
}

TEST(RunTimeValuesTest, HardmaxOfSymbols) {
  EXPECT_THAT(RunFloats({"Hardmax"}, {Symbolic(Floats({2, 3}, {1, 4, 2,  //
                                                               3, 0, 3}))}),
              ElementsAre(0, 1, 0, 1, 0, 0));
}

TEST(RunTimeValuesTest, HardmaxOfNothing) {
  for (const int opset : {11, 13}) {
    EXPECT_EQ(
        Outputs({"Hardmax", "", opset}, {Floats({2, 0}, {})})[0].TypeString(),
        "f32[2, 0]");
    EXPECT_EQ(Outputs({"Hardmax", "", opset}, {Symbolic(Floats({2, 0}, {}))})[0]
                  .TypeString(),
              "f32[2, 0]");
  }
}

TEST(RunTimeValuesTest, SlicesByStepsPastTheEnd) {
  EXPECT_THAT(RunFloats({"Slice"},
                        {Symbolic(Floats({5}, {0, 1, 2, 3, 4})),
                         Longs({1}, {0}), Longs({1}, {9}),
                         Constant(Longs({1}, {0})), Constant(Longs({1}, {2}))}),
              ElementsAre(0, 2, 4));
}

TEST(RunTimeValuesTest, SlicesBackwardsOfNothing) {
  const Operand minus_one = Constant(Longs({1}, {-1}));
  for (const bool run_time : {false, true}) {
    const Tensor starts = Longs({1}, {5}), ends = Longs({1}, {-9});
    for (const int64_t extent : {0, 1, 2}) {
      const Tensor out =
          Outputs({"Slice"}, {Symbolic(RandomFloats({extent}, 1)),
                              run_time ? Operand(starts) : Constant(starts),
                              run_time ? Operand(ends) : Constant(ends),
                              Constant(Longs({1}, {0})), minus_one})[0];
      EXPECT_EQ(out.shape()[0], extent);
    }
  }
}

TEST(RunTimeValuesTest, SplitOfSymbols) {
  const Operator op{"Split", "", 18,
                    [](Node* n) { SetInt(n, "num_outputs", 3); }, 3};
  const Tensor x = Longs({7}, {1, 2, 3, 4, 5, 6, 7});
  const std::vector<Tensor> parts = Outputs(op, {Symbolic(x)});
  EXPECT_THAT(parts[0].values<int64_t>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(parts[1].values<int64_t>(), ElementsAre(4, 5, 6));
  EXPECT_THAT(parts[2].values<int64_t>(), ElementsAre(7));
}

TEST(RunTimeValuesTest, PadsOfAllModes) {
  const Tensor x = RandomFloats({1, 3, 4}, 5);
  const Tensor pads = Longs({6}, {0, 2, 3, 0, 1, 2});
  for (const char* mode : {"constant", "edge", "reflect", "wrap"}) {
    SCOPED_TRACE(mode);
    const Operator op{"Pad", "", 19,
                      [mode](Node* n) { SetString(n, "mode", mode); }};
    const auto expected = Outputs(op, {x, Constant(pads)});
    ExpectSame(Outputs(op, {x, pads}), expected);
    ExpectSame(Outputs(op, {Symbolic(x), pads}), expected);
    ExpectSame(Outputs(op, {x, Longs({4}, {2, 3, 1, 2}), LeftOut(),
                            Constant(Longs({2}, {1, -1}))}),
               expected);
  }
}

TEST(RunTimeValuesTest, PadsFurtherThanOnceThereAndBack) {
  const Operator op{"Pad", "", 19,
                    [](Node* n) { SetString(n, "mode", "reflect"); }};
  EXPECT_THAT(RunFloats(op, {Floats({3}, {1, 2, 3}), Longs({2}, {5, 4})}),
              ElementsAre(2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3));
  EXPECT_THAT(RunFloats(op, {Floats({1}, {4}), Longs({2}, {2, 1})}),
              ElementsAre(4, 4, 4, 4));
}

// Negative pads take elements away before others are added.
TEST(RunTimeValuesTest, PadsThatCrop) {
  const Tensor x = Floats({4}, {1, 2, 3, 4});
  auto pad = [&](const char* mode, int64_t before, int64_t after) {
    const Operator op{"Pad", "", 19,
                      [mode](Node* n) { SetString(n, "mode", mode); }};
    return RunFloats(op, {x, Longs({2}, {before, after})});
  };
  EXPECT_THAT(pad("edge", -1, 2), ElementsAre(2, 3, 4, 4, 4));
  EXPECT_THAT(pad("reflect", 1, -1), ElementsAre(2, 1, 2, 3));
  EXPECT_THAT(pad("constant", -3, 1), ElementsAre(4, 0));
  EXPECT_THAT(pad("constant", -1, -2), ElementsAre(2));
}

// Up to 4 rows, of however many there are: formulas may be negative, too.
TEST(RunTimeValuesTest, PadsThatFillUpToASize) {
  for (const int64_t rows : {1, 4, 6}) {
    ModelBuilder b(17);
    b.Input("x", {"n", "2"}).Output("y");
    b.Ints("first", {0});
    b.Ints("second", {1});
    b.Ints("size", {4});
    b.Ints("none", {0});
    b.Ints("less", {-1});
    b.Node("Shape", {"x"}, {"shape"});
    b.Node("Slice", {"shape", "first", "second"}, {"rows"});
    b.Node("Sub", {"size", "rows"}, {"lacking"});
    SetInt(b.Node("Concat", {"none", "less", "lacking", "none"}, {"pads"}),
           "axis", 0);
    b.Node("Pad", {"x", "pads"}, {"y"});
    const absl::StatusOr<relay::Module> module = ImportOnnx(b.Build());
    ASSERT_TRUE(module.ok()) << module.status();
    std::vector<float> values, expected;
    for (int64_t i = 0; i < rows; ++i) {
      values.insert(values.end(), {0, static_cast<float>(1 + i)});
    }
    for (int64_t i = 0; i < 4; ++i) {
      expected.push_back(i < rows ? static_cast<float>(1 + i) : 0);
    }
    const auto y = relay::EvaluateFunction(*module, *module->main(),
                                           {Floats({rows, 2}, values)});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ((*y)[0].TypeString(), "f32[4, 1]");
    EXPECT_EQ(ValuesOf((*y)[0]), expected);
  }
}

// As PyTorch writes a causal mask beside a cache: the diagonal is a formula
// over dimensions, which may be negative.
TEST(RunTimeValuesTest, DiagonalFromShapes) {
  ModelBuilder b(14);
  b.Input("x", {"n", "3"}).Output("y");
  b.Ints("first", {0});
  b.Ints("two", {2});
  b.Node("Shape", {"x"}, {"shape"});
  b.Node("Gather", {"shape", "first"}, {"rows"});
  b.Node("Sub", {"rows", "two"}, {"k"});
  b.Node("Trilu", {"x", "k"}, {"y"});
  const absl::StatusOr<relay::Module> module = ImportOnnx(b.Build());
  ASSERT_TRUE(module.ok()) << module.status();
  for (const std::vector<float>& expected : {std::vector<float>{1, 2, 3},
                                             {1, 2, 3, 0, 5, 6},
                                             {0, 2, 3, 0, 0, 6, 0, 0, 0}}) {
    std::vector<float> x;
    for (size_t i = 0; i < expected.size(); ++i) {
      x.push_back(static_cast<float>(i + 1));
    }
    const int64_t rows = static_cast<int64_t>(expected.size()) / 3;
    const auto y = relay::EvaluateFunction(*module, *module->main(),
                                           {Floats({rows, 3}, x)});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(ValuesOf((*y)[0]), expected);
  }
}

TEST(RunTimeValuesTest, PadValue) {
  const Tensor x = RandomFloats({2, 3}, 6);
  const Tensor pads = Longs({4}, {1, 0, 0, 2}), value = Floats({}, {-7});
  const Operator op{"Pad"};
  const auto expected = Outputs(op, {x, Constant(pads), Constant(value)});
  ExpectSame(Outputs(op, {x, Constant(pads), value}), expected);
  ExpectSame(Outputs(op, {Symbolic(x), pads, value}), expected);
}

TEST(RunTimeValuesTest, AutoPadOfSymbols) {
  struct Case {
    const char* op;
    std::vector<int64_t> kernel, strides, dilations;
  };
  const std::vector<Case> cases = {
      {"Conv", {3, 5}, {2, 3}, {1, 1}},
      {"Conv", {1, 1}, {2, 2}, {1, 1}},
      {"Conv", {3, 3}, {2, 1}, {2, 2}},
      {"ConvTranspose", {3, 4}, {2, 2}, {1, 1}},
      {"MaxPool", {3, 2}, {2, 2}, {1, 1}},
      {"AveragePool", {3, 4}, {2, 3}, {1, 1}},
      {"LpPool", {2, 2}, {2, 3}, {1, 1}},
  };
  for (const Case& test : cases) {
    for (const char* auto_pad : {"SAME_UPPER", "SAME_LOWER"}) {
      for (const std::vector<int64_t>& extents :
           {std::vector<int64_t>{7, 9}, {6, 8}, {5, 10}}) {
        SCOPED_TRACE(std::string(test.op) + " " + auto_pad + " " +
                     testing::PrintToString(extents));
        const bool pool =
            std::string(test.op).find("Pool") != std::string::npos;
        const Operator op{test.op, "", 18, [&](Node* n) {
                            SetString(n, "auto_pad", auto_pad);
                            SetInts(n, "strides", test.strides);
                            SetInts(n, "dilations", test.dilations);
                            SetInts(n, "kernel_shape", test.kernel);
                          }};
        const Tensor x = RandomFloats({1, 2, extents[0], extents[1]}, 10);
        std::vector<Operand> known = {x}, symbolic = {Symbolic(x)};
        if (!pool) {
          const Operand w = Constant(
              RandomFloats({2, 2, test.kernel[0], test.kernel[1]}, 11));
          known.push_back(w);
          symbolic.push_back(w);
        }
        ExpectSame(Outputs(op, symbolic), Outputs(op, known));
      }
    }
  }
}

TEST(RunTimeValuesTest, AutoPadOfOneSymbol) {
  const Operator op{"AveragePool", "", 11, [](Node* n) {
                      SetString(n, "auto_pad", "SAME_UPPER");
                      SetInts(n, "strides", {2});
                      SetInts(n, "kernel_shape", {3});
                    }};
  EXPECT_THAT(RunFloats(op, {Symbolic(Floats({1, 1, 4}, {1, 2, 3, 5}))}),
              ElementsAre(2, 4));
}

TEST(RunTimeValuesTest, ResizeScales) {
  const Tensor x = RandomFloats({1, 2, 5, 10}, 7);
  const Tensor scales = Floats({4}, {1, 1, 1.5f, 0.7f});
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates :
         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
          "align_corners", "asymmetric"}) {
      SCOPED_TRACE(std::string(mode) + " " + coordinates);
      const Operator op{"Resize", "", 19, [mode, coordinates](Node* n) {
                          SetString(n, "mode", mode);
                          SetString(n, "coordinate_transformation_mode",
                                    coordinates);
                        }};
      const auto expected = Outputs(op, {x, LeftOut(), Constant(scales)});
      EXPECT_EQ(expected[0].TypeString(), "f32[1, 2, 7, 7]");
      ExpectSame(Outputs(op, {x, LeftOut(), scales}), expected);
      ExpectSame(Outputs(op, {Symbolic(x), LeftOut(), scales}), expected);
      ExpectSame(Outputs(op, {Symbolic(x), LeftOut(), Constant(scales)}),
                 expected);
    }
  }
}

TEST(RunTimeValuesTest, ResizeAxes) {
  auto on = [](std::vector<int64_t> axes) {
    return Operator{"Resize", "", 19, [axes](Node* n) {
                      SetString(n, "mode", "linear");
                      SetInts(n, "axes", axes);
                    }};
  };
  const Tensor x = RandomFloats({2, 3, 4}, 8);
  const Tensor scales = Floats({2}, {1.25f, 2});
  const auto expected = Outputs(on({2, 1}), {x, LeftOut(), Constant(scales)});
  EXPECT_EQ(expected[0].TypeString(), "f32[2, 6, 5]");
  ExpectSame(Outputs(on({2, 1}), {x, LeftOut(), scales}), expected);
  ExpectSame(Outputs(on({-1, -2}), {Symbolic(x), LeftOut(), scales}), expected);
}

TEST(RunTimeValuesTest, ResizeKeepsTheAspectRatio) {
  const Tensor x = RandomFloats({1, 1, 4, 6}, 9);
  const Tensor sizes = Longs({2}, {7, 8});
  for (const char* policy : {"not_larger", "not_smaller"}) {
    SCOPED_TRACE(policy);
    const Operator op{"Resize", "", 19, [policy](Node* n) {
                        SetString(n, "mode", "linear");
                        SetString(n, "keep_aspect_ratio_policy", policy);
                        SetInts(n, "axes", {2, 3});
                      }};
    const Operand none = LeftOut();
    const auto expected = Outputs(op, {x, none, none, Constant(sizes)});
    ExpectSame(Outputs(op, {x, none, none, sizes}), expected);
    ExpectSame(Outputs(op, {Symbolic(x), none, none, Constant(sizes)}),
               expected);
  }
}

}  // namespace
}  // namespace ingot::onnx_frontend
