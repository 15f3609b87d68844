// Blocked layouts mean the same as plain ones: transform, compute, transform
// back, compare with the plain operator. By the interpreter.
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/relay/bf16_parts.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"
#include "compiler/relay/winograd.h"
#include "compiler/relay/word_kernels.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// Small integers, so that sums are exact in any order.
Tensor Numbers(const Ints& shape) {
  Tensor t = *Tensor::Empty(DataType::Float(32), shape);
  float* data = t.mutable_data<float>();
  uint32_t state = 12345;
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    state = state * 1664525 + 1013904223;
    data[i] = static_cast<float>(static_cast<int>(state >> 28) - 8);
  }
  return t;
}

class BlockedTest : public testing::Test {
 protected:
  BlockedTest() : f_(module_.AddFunction("main")) {}

  Value Constant(const Ints& shape) {
    return Value{f_->AddConstant("c", Numbers(shape))};
  }
  Value Op(absl::string_view op, std::vector<Value> inputs, Attrs attrs = {}) {
    absl::StatusOr<Node*> node = f_->AddOp(op, op, std::move(inputs), attrs);
    EXPECT_TRUE(node.ok()) << node.status();
    return node.ok() ? Value{*node}
                     : Value{f_->AddConstant("bad", Numbers({}))};
  }
  Value Layout(Value x, const std::string& src, const std::string& dst) {
    return Op("layout_transform", {x}, {{"src", src}, {"dst", dst}});
  }
  // x in blocks of channels, the last of which NaN fills up.
  Value FilledUp(Value x, int64_t channels, int64_t block) {
    const int64_t more = (block - channels % block) % block;
    const Value filled =
        Op("pad", {x},
           {{"pads", Ints{0, 0, 0, 0, 0, more, 0, 0}},
            {"value", std::numeric_limits<double>::quiet_NaN()}});
    return Layout(filled, "NCHW", absl::StrCat("NCHW", block, "c"));
  }
  void ExpectSame(Value a, Value b) {
    f_->outputs = {a, b};
    absl::StatusOr<std::vector<Tensor>> r = EvaluateFunction(module_, *f_, {});
    ASSERT_TRUE(r.ok()) << r.status();
    ASSERT_EQ((*r)[0].TypeString(), (*r)[1].TypeString());
    EXPECT_EQ((*r)[0].values<float>(), (*r)[1].values<float>());
  }

  Module module_;
  Function* f_;
};

TEST_F(BlockedTest, ConvolutionOnBlocks) {
  const Value x = Constant({2, 8, 7, 6}), w = Constant({16, 8, 3, 3});
  const Attrs window{{"strides", Ints{2, 1}}, {"pads", Ints{1, 1, 0, 2}}};
  Attrs blocked = window;
  blocked.Set("data_layout", std::string("NCHW4c"));
  blocked.Set("kernel_layout", std::string("OIHW4i8o"));
  const Value y =
      Op("conv2d", {Layout(x, "NCHW", "NCHW4c"), Layout(w, "OIHW", "OIHW4i8o")},
         blocked);
  ExpectSame(Op("conv2d", {x, w}, window), Layout(y, "NCHW8c", "NCHW"));
}

TEST_F(BlockedTest, ConvolutionLeavesOutChannelsThatFillUp) {
  for (const int64_t in : {9, 10, 12}) {
    SCOPED_TRACE(in);
    const Value x = Constant({1, in, 6, 5}), w = Constant({16, in, 3, 3});
    const std::string kernel = absl::StrCat("OIHW", std::gcd(in, 8), "i8o");
    const Value y =
        Op("conv2d", {FilledUp(x, in, 8), Layout(w, "OIHW", kernel)},
           {{"data_layout", std::string("NCHW8c")}, {"kernel_layout", kernel}});
    ExpectSame(Op("conv2d", {x, w}), Layout(y, "NCHW8c", "NCHW"));
    for (const int64_t tile : {2, 4}) {
      const Value kernels{f_->AddConstant(
          "kernels",
          *WinogradKernels(Numbers({16, in, 3, 3}), *FindWinograd(tile),
                           std::gcd(in, 8), 8))};
      const Value z = Op("winograd_conv2d", {FilledUp(x, in, 8), kernels},
                         {{"tile", tile}, {"pads", Ints{0, 0, 0, 0}}});
      const Value rounded = Op("round", {Layout(z, "NCHW8c", "NCHW")});
      ExpectSame(Op("conv2d", {x, w}), rounded);
    }
  }
}

TEST_F(BlockedTest, GroupedConvolutionOnBlocks) {
  const Value x = Constant({1, 16, 5, 5}), w = Constant({8, 8, 3, 3});
  const Attrs window{{"groups", int64_t{2}}, {"dilations", Ints{2, 1}}};
  Attrs blocked = window;
  blocked.Set("data_layout", std::string("NCHW4c"));
  blocked.Set("kernel_layout", std::string("OIHW4i4o"));
  const Value y =
      Op("conv2d", {Layout(x, "NCHW", "NCHW4c"), Layout(w, "OIHW", "OIHW4i4o")},
         blocked);
  ExpectSame(Op("conv2d", {x, w}, window), Layout(y, "NCHW4c", "NCHW"));
}

TEST_F(BlockedTest, FirstConvolutionFromPlainData) {
  const Value x = Constant({1, 3, 6, 6}), w = Constant({8, 3, 3, 3});
  const Attrs window{{"pads", Ints{1, 1, 1, 1}}};
  Attrs blocked = window;
  blocked.Set("kernel_layout", std::string("OIHW8o"));
  const Value y = Op("conv2d", {x, Layout(w, "OIHW", "OIHW8o")}, blocked);
  ExpectSame(Op("conv2d", {x, w}, window), Layout(y, "NCHW8c", "NCHW"));
}

TEST_F(BlockedTest, DepthwiseConvolution) {
  const Value x = Constant({1, 8, 6, 5}), w = Constant({8, 1, 3, 3});
  const Attrs window{{"groups", int64_t{8}}, {"pads", Ints{1, 1, 1, 1}}};
  Attrs blocked = window;
  blocked.Set("data_layout", std::string("NCHW4c"));
  blocked.Set("kernel_layout", std::string("OIHW4o"));
  const Value y =
      Op("conv2d", {Layout(x, "NCHW", "NCHW4c"), Layout(w, "OIHW", "OIHW4o")},
         blocked);
  ExpectSame(Op("conv2d", {x, w}, window), Layout(y, "NCHW4c", "NCHW"));
}

TEST_F(BlockedTest, Pools) {
  const Value x = Constant({1, 8, 7, 7});
  const Value b = Layout(x, "NCHW", "NCHW4c");
  const Attrs window{{"kernel", Ints{3, 2}},
                     {"strides", Ints{2, 2}},
                     {"pads", Ints{1, 0, 1, 1}},
                     {"ceil_mode", int64_t{1}}};
  Attrs blocked = window;
  blocked.Set("layout", std::string("NCHW4c"));
  for (const char* op : {"max_pool2d", "avg_pool2d"}) {
    ExpectSame(Op(op, {x}, window),
               Layout(Op(op, {b}, blocked), "NCHW4c", "NCHW"));
  }
  const Attrs layout{{"layout", std::string("NCHW4c")}};
  for (const char* op : {"global_max_pool2d", "global_avg_pool2d"}) {
    ExpectSame(Op(op, {x}), Layout(Op(op, {b}, layout), "NCHW4c", "NCHW"));
  }
}

TEST_F(BlockedTest, PackedProduct) {
  const Value x = Constant({2, 3, 5}), w = Constant({7, 5});
  const Value packed = Layout(w, "NK", "NK4n");
  ExpectSame(Op("dense", {x, w}),
             Op("dense_packed", {x, packed}, {{"units", int64_t{7}}}));
  ExpectSame(Op("dense", {x, w}),
             Op("matmul", {x, Op("transpose", {w}, {{"axes", Ints{1, 0}}})}));
}

// Small whole numbers are bf16 themselves: the parts after the first are 0.
TEST_F(BlockedTest, ProductOfParts) {
  const Value x = Constant({2, 3, 37}), w = Constant({37, 21});
  for (const int64_t parts : {1, 2, 3}) {
    const Tensor panels =
        *PackBf16Panels(Numbers({37, 21}), {37, 21, parts}, 21, 1);
    const Value packed{f_->AddConstant("panels", panels)};
    ExpectSame(Op("matmul", {x, w}),
               Op("dense_parts", {x, packed}, {{"units", int64_t{21}}}));
  }
}

TEST_F(BlockedTest, ConvolutionOfParts) {
  struct Case {
    int64_t in, kernel, stride, dilation;
    Ints pads;
  };
  for (const Case& c : std::vector<Case>{{32, 1, 1, 1, {0, 0, 0, 0}},
                                         {48, 1, 2, 1, {0, 0, 0, 0}},
                                         {42, 1, 2, 1, {0, 0, 0, 0}},
                                         {9, 3, 1, 1, {0, 1, 1, 1}},
                                         {16, 3, 1, 1, {1, 1, 1, 1}},
                                         {48, 3, 2, 1, {0, 2, 1, 0}},
                                         {32, 2, 1, 2, {1, 0, 0, 1}},
                                         {32, 1, 1, 1, {1, 1, 0, 1}}}) {
    SCOPED_TRACE(testing::Message() << c.in << " " << c.kernel);
    const Value x = Constant({2, c.in, 7, 6});
    const Ints kernel = {21, c.in, c.kernel, c.kernel};
    const Ints strides = {c.stride, c.stride};
    const Ints dilations = {c.dilation, c.dilation};
    const Value plain =
        Op("conv2d", {x, Constant(kernel)},
           {{"strides", strides}, {"pads", c.pads}, {"dilations", dilations}});
    const Value packed{
        f_->AddConstant("panels", *PackBf16Kernels(Numbers(kernel), 2))};
    const Value result = Op("conv2d_parts", {FilledUp(x, c.in, 16), packed},
                            {{"kernel", Ints{c.kernel, c.kernel}},
                             {"channels", c.in},
                             {"strides", strides},
                             {"pads", c.pads},
                             {"dilations", dilations}});
    const Value filled =
        Op("pad", {plain}, {{"pads", Ints{0, 0, 0, 0, 0, 11, 0, 0}}});
    ExpectSame(filled, Layout(result, "NCHW16c", "NCHW"));
  }
}

TEST_F(BlockedTest, ConvolutionOfWords) {
  struct Case {
    int64_t in, kernel, stride, dilation;
    Ints pads;
    int64_t pad_value;
  };
  for (const Case& c : std::vector<Case>{{64, 1, 1, 1, {0, 0, 0, 0}, 0},
                                         {80, 1, 2, 1, {0, 0, 0, 0}, 0},
                                         {16, 3, 1, 1, {1, 1, 1, 1}, 3},
                                         {70, 3, 2, 1, {0, 2, 1, 0}, 5},
                                         {32, 2, 1, 2, {1, 0, 0, 1}, 0},
                                         {32, 1, 1, 1, {1, 1, 0, 1}, 7}}) {
    SCOPED_TRACE(testing::Message() << c.in << " " << c.kernel);
    const Value x = Op("cast", {Op("abs", {Constant({2, c.in, 7, 6})})},
                       {{"dtype", DataType::UInt(8)}});
    const Ints kernel = {21, c.in, c.kernel, c.kernel};
    const Tensor numbers = Numbers(kernel);
    Tensor w = *Tensor::Empty(DataType::Int(8), kernel);
    for (int64_t i = 0; i < w.NumElements(); ++i) {
      w.mutable_data<int8_t>()[i] =
          static_cast<int8_t>(numbers.data<float>()[i]);
    }
    Attrs attrs = {{"strides", Ints{c.stride, c.stride}},
                   {"pads", c.pads},
                   {"dilations", Ints{c.dilation, c.dilation}},
                   {"pad_value", c.pad_value}};
    Attrs plain_attrs = attrs;
    plain_attrs.Set("out_dtype", DataType::Int(32));
    const Value plain =
        Op("conv2d", {x, Value{f_->AddConstant("w", w)}}, plain_attrs);
    attrs.Set("kernel", Ints{c.kernel, c.kernel});
    const Value packed{f_->AddConstant("words", *PackWordKernels(w))};
    const Value result =
        Op("conv2d_words", {Layout(x, "NCHW", "NCHW16c"), packed}, attrs);
    const Value filled =
        Op("pad", {plain}, {{"pads", Ints{0, 0, 0, 0, 0, 11, 0, 0}}});
    const auto floats = [&](const Value& v) {
      return Op("cast", {v}, {{"dtype", DataType::Float(32)}});
    };
    ExpectSame(floats(filled), floats(Layout(result, "NCHW16c", "NCHW")));
  }
}

// Rows of taps in words, which share taps or lack some where the row is no
// multiple of four.
TEST_F(BlockedTest, DepthwiseConvolutionOfWords) {
  for (const int64_t taps : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12}) {
    for (const int64_t step : {1, 2}) {
      SCOPED_TRACE(testing::Message() << taps << " by " << step);
      const Value x = Op("cast", {Op("abs", {Constant({1, 8, 4, 13})})},
                         {{"dtype", DataType::UInt(8)}});
      const Tensor numbers = Numbers({8, 1, 2, taps});
      Tensor w = *Tensor::Empty(DataType::Int(8), numbers.shape());
      for (int64_t i = 0; i < w.NumElements(); ++i) {
        w.mutable_data<int8_t>()[i] =
            static_cast<int8_t>(numbers.data<float>()[i]);
      }
      Attrs attrs = {{"strides", Ints{1, step}},
                     {"pads", Ints{1, taps / 2, 0, 1}},
                     {"pad_value", int64_t{9}},
                     {"groups", int64_t{8}},
                     {"out_dtype", DataType::Int(32)}};
      const Value plain =
          Op("conv2d", {x, Value{f_->AddConstant("w", w)}}, attrs);
      attrs.Set("data_layout", std::string("NCHW4c"));
      attrs.Set("kernel_layout", std::string("OIHW4o"));
      attrs.Set("words", taps);
      const Value words{f_->AddConstant("words", *PackTapWords(w))};
      const Value result =
          Op("conv2d",
             {Layout(x, "NCHW", "NCHW4c"), Layout(words, "OIHW", "OIHW4o")},
             attrs);
      const auto floats = [&](const Value& v) {
        return Op("cast", {v}, {{"dtype", DataType::Float(32)}});
      };
      ExpectSame(floats(plain), floats(Layout(result, "NCHW4c", "NCHW")));
    }
  }
  EXPECT_FALSE(TapWordsOf(9));
}

TEST_F(BlockedTest, PartialBlocksAreFilledWithZeros) {
  const Value x = Constant({1, 3, 2, 2});
  const Value back = Layout(Layout(x, "NCHW", "NCHW4c"), "NCHW4c", "NCHW");
  const Value grown = Op("pad", {x}, {{"pads", Ints{0, 0, 0, 0, 0, 1, 0, 0}}});
  ExpectSame(back, grown);
}

TEST_F(BlockedTest, ResizeKeepsBlocks) {
  const Value x = Constant({1, 4, 3, 3});
  const Value b = Layout(x, "NCHW", "NCHW4c");
  const std::string mode = "linear";
  const Value plain =
      Op("resize", {x}, {{"sizes", MakeShape({1, 4, 5, 6})}, {"mode", mode}});
  const Value blocked = Op(
      "resize", {b}, {{"sizes", MakeShape({1, 1, 5, 6, 4})}, {"mode", mode}});
  ExpectSame(plain, Layout(blocked, "NCHW4c", "NCHW"));
}

// ------------------------------------------------------------------- inference

class InferTest : public BlockedTest {
 protected:
  std::string Error(absl::string_view op, std::vector<Value> inputs,
                    Attrs attrs = {}) {
    return std::string(
        f_->AddOp(op, "n", std::move(inputs), attrs).status().message());
  }
  Value Input(const Shape& shape) {
    return Value{f_->AddInput("x", {DataType::Float(32), shape})};
  }
};

TEST_F(InferTest, ErrorsSayWhatDoesNotFit) {
  using testing::HasSubstr;
  const Value x = Constant({1, 3, 8, 8});
  EXPECT_THAT(Error("add", {x, Constant({5})}),
              HasSubstr("f32[1, 3, 8, 8] and f32[5]"));
  EXPECT_THAT(Error("conv2d", {x, Constant({4, 2, 3, 3})}),
              HasSubstr("has 3 channels"));
  EXPECT_THAT(Error("conv2d", {x, Constant({4, 3, 9, 9})}),
              HasSubstr("does not fit"));
  // Blocks of a kernel need blocks of the data, which they divide.
  const Value blocks = Constant({1, 1, 8, 8, 8});
  const auto layouts = [](const char* data, const char* kernel) {
    return Attrs{{"data_layout", std::string(data)},
                 {"kernel_layout", std::string(kernel)}};
  };
  EXPECT_THAT(Error("conv2d", {x, Constant({1, 1, 3, 3, 3, 8})},
                    layouts("NCHW", "OIHW3i8o")),
              HasSubstr("plain data with a blocked kernel needs"));
  EXPECT_THAT(Error("conv2d", {blocks, Constant({1, 2, 3, 3, 3, 8})},
                    layouts("NCHW8c", "OIHW3i8o")),
              HasSubstr("data in blocks of 8 and a kernel in blocks of 3"));
  EXPECT_THAT(Error("matmul", {Constant({2, 3}), Constant({4, 5})}),
              HasSubstr("differ in the dimension summed over"));
  EXPECT_THAT(Error("reshape", {x}, {{"shape", MakeShape({5, 5})}}),
              HasSubstr("192 elements"));
  EXPECT_THAT(
      Error("concat", {x, Constant({1, 3, 8, 7})}, {{"axis", int64_t{1}}}),
      HasSubstr("differ in more than dimension 1"));
  EXPECT_THAT(Error("einsum", {x}, {{"equation", std::string("ij->i")}}),
              HasSubstr("does not fit operand 0"));
}

TEST_F(InferTest, SymbolicDimensions) {
  const Dim n = module_.Symbol("n");
  const Value x = Input({n, tir::MakeInt(3), n, n});
  const Value w = Constant({4, 3, 3, 3});
  const Value y = Op("conv2d", {x, w}, {{"strides", Ints{2, 1}}});
  EXPECT_EQ(ToString(y.type()), "f32[n, 4, (n + 1) / 2 - 1, n - 2]");
  // A constant wins over a symbol, which must be it or 1.
  EXPECT_EQ(ToString(Op("add", {Input({n}), Constant({5})}).type()), "f32[5]");
  EXPECT_EQ(ToString(Op("add", {Input({n}), Constant({1})}).type()), "f32[n]");
}

// Words of weights are of what data of u8 or i16 multiply; nothing else is
// taken for a convolution of whole numbers.
TEST_F(BlockedTest, WordsAreForBytesAndHalvesAlone) {
  const Attrs attrs = {{"data_layout", std::string("NCHW4c")},
                       {"kernel_layout", std::string("OIHW4i4o")},
                       {"words", int64_t{1}}};
  for (const int bits : {32, 64}) {
    const DataType type = DataType::Float(bits);
    const auto make = [&](const Ints& shape) {
      return Op("cast", {Constant(shape)}, {{"dtype", type}});
    };
    EXPECT_THAT(
        f_->AddOp("conv2d", "y",
                  {make({1, 1, 3, 3, 4}), make({2, 1, 1, 1, 4, 4})}, attrs)
            .status()
            .ToString(),
        testing::HasSubstr("words are for x of u8 or i16"));
  }
}

}  // namespace
}  // namespace ingot::relay
