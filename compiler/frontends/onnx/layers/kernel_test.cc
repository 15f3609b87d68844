// Convolutions whose kernels are inputs, and what ONNX leaves open about
// windows. Numbers of other origin than a second way of our own are ONNX
// Runtime 1.30's, or said to be others'.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using testing::ElementsAre;
using Node = onnx::NodeProto;

std::vector<float> AsFloats(const Tensor& t) {
  const DataType dtype = t.dtype();
  std::vector<float> floats;
  if (dtype == DataType::Float(32)) {
    for (float v : t.values<float>()) floats.push_back(v);
  } else if (dtype == DataType::Int(32)) {
    for (int32_t v : t.values<int32_t>()) floats.push_back(v);
  } else if (dtype == DataType::UInt(8)) {
    for (uint8_t v : t.values<uint8_t>()) floats.push_back(v);
  } else {
    ADD_FAILURE() << t.TypeString();
  }
  return floats;
}

void ExpectSame(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.TypeString(), b.TypeString());
  ExpectNear(AsFloats(a), AsFloats(b));
}

Tensor RandomBytes(const std::vector<int64_t>& shape, unsigned seed) {
  const Tensor floats = RandomFloats(shape, seed);
  Tensor bytes = *Tensor::Empty(DataType::UInt(8), shape);
  for (int64_t i = 0; i < floats.NumElements(); ++i) {
    bytes.mutable_data<uint8_t>()[i] =
        static_cast<uint8_t>(128 + 50 * floats.values<float>()[i]);
  }
  return bytes;
}

struct Kind {
  const char* op;
  int64_t groups;
};

// The kernel has symbols only; kernel_shape tells the window.
TEST(KernelTest, KernelsOfSymbols) {
  for (const Kind& kind : {Kind{"Conv", 1}, Kind{"Conv", 2},
                           Kind{"ConvTranspose", 1}, Kind{"ConvTranspose", 2},
                           Kind{"ConvInteger", 1}, Kind{"ConvInteger", 2}}) {
    for (size_t n = 1; n <= 3; ++n) {
      SCOPED_TRACE(absl::StrCat(kind.op, " ", n, " groups ", kind.groups));
      const bool transposed = std::string(kind.op) == "ConvTranspose";
      const bool integers = std::string(kind.op) == "ConvInteger";
      std::vector<int64_t> data = {2, 4}, kernel = {6, 4 / kind.groups};
      if (transposed) kernel = {4, 6 / kind.groups};
      const std::vector<int64_t> window(n, 3);
      for (size_t d = 0; d < n; ++d) data.push_back(5 + d);
      kernel.insert(kernel.end(), window.begin(), window.end());
      const Operator op{kind.op, "", integers ? 10 : 22, [&](Node* n) {
                          SetInts(n, "kernel_shape", window);
                          SetInt(n, "group", kind.groups);
                        }};
      const Tensor x = integers ? RandomBytes(data, 1) : RandomFloats(data, 1);
      const Tensor w =
          integers ? RandomBytes(kernel, 2) : RandomFloats(kernel, 2);
      std::vector<Operand> known = {x, Constant(w)};
      std::vector<std::vector<Operand>> others = {{x, w},
                                                  {x, Symbolic(w)},
                                                  {Symbolic(x), w},
                                                  {Symbolic(x), Symbolic(w)}};
      if (!integers) {
        const Tensor bias = RandomFloats({6}, 3);
        known.push_back(bias);
        for (auto& operands : others) operands.push_back(Symbolic(bias));
        others.push_back({x, Symbolic(w), Constant(bias)});
      }
      const Tensor expected = Outputs(op, known)[0];
      for (const auto& operands : others) {
        ExpectSame(Outputs(op, operands)[0], expected);
      }
    }
  }
}

TEST(KernelTest, TheWindowMustBeKnown) {
  const Tensor x = RandomFloats({1, 2, 5, 5}, 1);
  const Tensor w = RandomFloats({3, 2, 3, 3}, 2);
  const auto unknown = RunOperator({"Conv"}, {x, Symbolic(w)});
  EXPECT_TRUE(absl::IsUnimplemented(unknown.status()));
  EXPECT_THAT(std::string(unknown.status().message()),
              testing::HasSubstr("kernel_shape"));
  const auto wider = [](Node* n) { SetInts(n, "kernel_shape", {3, 2}); };
  const Operator other{"Conv", "", 22, wider};
  EXPECT_TRUE(absl::IsInvalidArgument(RunOperator(other, {x, w}).status()));
  EXPECT_FALSE(RunOperator({"Conv"}, {RandomFloats({1, 3, 5, 5}, 1), w}).ok());
  // A bias for more channels than there are.
  EXPECT_FALSE(RunOperator({"Conv"}, {x, RandomFloats({1, 2, 3, 3}, 2),
                                      RandomFloats({3}, 3)})
                   .ok());
}

// auto_pad with a stride, of extents that only a run knows: what lies outside
// is the data's zero point.
TEST(KernelTest, IntegersWithAutoPadOfSymbols) {
  const Tensor zero = Bytes({}, {100}), scale = Floats({}, {0.5});
  for (const char* auto_pad : {"SAME_UPPER", "SAME_LOWER"}) {
    for (size_t n = 1; n <= 2; ++n) {
      SCOPED_TRACE(absl::StrCat(auto_pad, " ", n));
      std::vector<int64_t> data = {1, 2}, kernel = {3, 2};
      for (size_t d = 0; d < n; ++d) {
        data.push_back(6 + d);
        kernel.push_back(4 - d);
      }
      const auto attributes = [&](Node* node) {
        SetString(node, "auto_pad", auto_pad);
        SetInts(node, "strides", std::vector<int64_t>(n, 2));
      };
      const Tensor x = RandomBytes(data, 1), w = RandomBytes(kernel, 2);
      const Operator integer{"ConvInteger", "", 10, attributes};
      ExpectSame(Outputs(integer, {Symbolic(x), w, zero})[0],
                 Outputs(integer, {x, w, zero})[0]);
      const Operator quantized{"QLinearConv", "", 10, attributes};
      const auto operands = [&](const Operand& data) {
        return std::vector<Operand>{data,
                                    scale,
                                    zero,
                                    w,
                                    scale,
                                    zero,
                                    Floats({}, {60}),
                                    Bytes({}, {120})};
      };
      ExpectSame(Outputs(quantized, operands(Symbolic(x)))[0],
                 Outputs(quantized, operands(x))[0]);
    }
  }
}

// ------------------------------------------------------------ what ONNX leaves

// The first of equal elements along the rows is taken, also where positions
// count columns first.
TEST(KernelTest, EqualElementsOfAMaxPool) {
  const Tensor x = Floats({1, 1, 3, 3}, {1, 5, 2, 5, 5, 1, 0, 5, 5});
  for (int64_t columns : {0, 1}) {
    const Operator op{"MaxPool", "", 12,
                      [=](Node* n) {
                        SetInts(n, "kernel_shape", {2, 2});
                        SetInt(n, "storage_order", columns);
                      },
                      2};
    const Tensor indices = Outputs(op, {x})[1];
    if (columns == 0) {
      EXPECT_THAT(indices.values<int64_t>(), ElementsAre(1, 1, 3, 4));
    } else {
      EXPECT_THAT(indices.values<int64_t>(), ElementsAre(3, 3, 1, 4));
    }
  }
}

// SAME gives the input's extents times the stride, as the specification has
// it: where the kernel does not reach that far zeros follow. (ONNX Runtime does
// so for an output_shape, and leaves the last zeros out for SAME.)
TEST(KernelTest, TransposedKernelShorterThanItsStride) {
  const Tensor x = Floats({1, 1, 3}, {1, 2, 3});
  for (const char* auto_pad : {"SAME_UPPER", "SAME_LOWER", "NOTSET"}) {
    SCOPED_TRACE(auto_pad);
    const bool same = std::string(auto_pad) != "NOTSET";
    const Operator op{"ConvTranspose", "", 11, [&](Node* n) {
                        SetString(n, "auto_pad", auto_pad);
                        SetInts(n, "strides", {3});
                        if (!same) SetInts(n, "output_shape", {9});
                      }};
    EXPECT_THAT(RunFloats(op, {x, Floats({1, 1, 1}, {10})}),
                ElementsAre(10, 0, 0, 20, 0, 0, 30, 0, 0));
  }
}

}  // namespace
}  // namespace ingot::onnx_frontend
