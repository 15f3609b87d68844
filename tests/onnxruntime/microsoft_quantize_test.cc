// Quantised operators of the domain com.microsoft, compiled, against ONNX
// Runtime. Bytes may be off by one where both round a number that lies between
// two of them.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gtest/gtest.h"
#include "tests/onnxruntime/expect_same.h"

namespace ingot {
namespace {

using onnx_frontend::Bytes;
using onnx_frontend::Constant;
using onnx_frontend::Floats;
using onnx_frontend::LeftOut;
using onnx_frontend::MakeTestTensor;
using onnx_frontend::Operand;
using onnx_frontend::Operator;
using onnx_frontend::RandomFloats;
using onnx_frontend::SetFloat;
using onnx_frontend::SetInt;
using onnx_frontend::SetInts;
using onnx_frontend::SignedBytes;
using onnxruntime::ExpectSame;
using Node = onnx::NodeProto;

constexpr onnxruntime::Room kByte{1e-4f, 1};

Operator Microsoft(const std::string& op,
                   std::function<void(Node*)> attributes = nullptr) {
  return {op, "com.microsoft", 1, std::move(attributes)};
}

// Bytes that look like anything, of either kind. Signed ones have seven bits:
// ONNX Runtime's sums of two products overflow otherwise on some processors.
Tensor RandomBytes(const std::vector<int64_t>& shape, uint32_t seed,
                   bool is_signed = false) {
  Tensor x =
      *Tensor::Empty(is_signed ? DataType::Int(8) : DataType::UInt(8), shape);
  uint8_t* bytes = static_cast<uint8_t*>(x.mutable_raw_data());
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    seed = seed * 1664525 + 1013904223;
    const int byte = static_cast<int>(seed >> 24);
    bytes[i] = static_cast<uint8_t>(is_signed ? byte / 2 - 64 : byte);
  }
  return x;
}

Operand Scale(float v) { return Constant(Floats({}, {v})); }
Operand Point(int v, bool is_signed = false) {
  return Constant(is_signed ? SignedBytes({}, {static_cast<int8_t>(v)})
                            : Bytes({}, {static_cast<uint8_t>(v)}));
}

TEST(MicrosoftQuantizeTest, ElementByElement) {
  for (bool is_signed : {false, true}) {
    auto point = [&](int v) {
      return Point(is_signed ? v - 128 : v, is_signed);
    };
    const Tensor a = RandomBytes({3, 17}, 1, is_signed);
    const std::vector<Operand> binary = {a,
                                         Scale(0.05f),
                                         point(120),
                                         RandomBytes({17}, 2, is_signed),
                                         Scale(0.03f),
                                         point(100),
                                         Scale(0.1f),
                                         point(130)};
    ExpectSame(Microsoft("QLinearAdd"), binary, kByte);
    ExpectSame(Microsoft("QLinearMul"), binary, kByte);
    const std::vector<Operand> unary = {a, Scale(0.05f), point(120),
                                        Scale(0.02f), point(128)};
    ExpectSame(Microsoft("QLinearLeakyRelu",
                         [](Node* n) { SetFloat(n, "alpha", 0.2f); }),
               unary, kByte);
    ExpectSame(Microsoft("QLinearSigmoid"),
               {a, Scale(0.05f), point(120), Scale(1.0f / 256), point(0)},
               kByte);
    for (int64_t axis : {-1, 0}) {
      ExpectSame(Microsoft("QLinearSoftmax",
                           [axis](Node* n) {
                             SetInt(n, "opset", 13);
                             SetInt(n, "axis", axis);
                           }),
                 {a, Scale(0.05f), point(120), Scale(1.0f / 256), point(0)},
                 kByte);
    }
    // Before operator set 13 the dimensions from the axis on are one.
    ExpectSame(Microsoft("QLinearSoftmax",
                         [](Node* n) {
                           SetInt(n, "opset", 12);
                           SetInt(n, "axis", 1);
                         }),
               {RandomBytes({2, 3, 5}, 3, is_signed), Scale(0.05f), point(120),
                Scale(1.0f / 256), point(0)},
               kByte);
    Tensor condition = *Tensor::Empty(DataType::Bool(), {3, 1});
    for (int i = 0; i < 3; ++i) condition.mutable_data<bool>()[i] = i != 1;
    ExpectSame(Microsoft("QLinearWhere"),
               {condition, a, Scale(0.05f), point(120),
                RandomBytes({17}, 4, is_signed), Scale(0.03f), point(100),
                Scale(0.1f), point(130)},
               kByte);
    auto axis = [](Node* n) { SetInt(n, "axis", 1); };
    ExpectSame(Microsoft("QLinearConcat", axis),
               {Scale(0.1f), point(130), a, Scale(0.05f), point(120),
                RandomBytes({3, 4}, 5, is_signed), Scale(0.2f), point(100)},
               kByte);
  }
}

TEST(MicrosoftQuantizeTest, Pools) {
  for (int64_t last : {0, 1}) {
    const Tensor x =
        last ? RandomBytes({2, 7, 9, 3}, 1) : RandomBytes({2, 3, 7, 9}, 1);
    const std::vector<Operand> operands = {x, Scale(0.05f), Point(120),
                                           Scale(0.04f), Point(128)};
    ExpectSame(Microsoft("QLinearGlobalAveragePool",
                         [=](Node* n) { SetInt(n, "channels_last", last); }),
               operands, kByte);
    for (int64_t counted : {0, 1}) {
      ExpectSame(Microsoft("QLinearAveragePool",
                           [=](Node* n) {
                             SetInt(n, "channels_last", last);
                             SetInt(n, "count_include_pad", counted);
                             SetInts(n, "kernel_shape", {3, 2});
                             SetInts(n, "strides", {2, 1});
                             SetInts(n, "pads", {1, 0, 1, 1});
                           }),
                 operands, kByte);
    }
  }
}

TEST(MicrosoftQuantizeTest, Products) {
  const Tensor x = RandomFloats({2, 5, 16}, 1);
  for (bool is_signed : {false, true}) {
    const Operand b = Constant(RandomBytes({16, 7}, 2, is_signed));
    const Operand scales = Constant(
        Floats({7}, {0.01f, 0.02f, 0.03f, 0.04f, 0.05f, 0.06f, 0.07f}));
    const Operand points =
        Constant(is_signed ? SignedBytes({7}, {1, 2, 3, 4, 5, 6, 7})
                           : Bytes({7}, {1, 2, 3, 4, 5, 6, 7}));
    const Operand bias = Constant(RandomFloats({7}, 3));
    ExpectSame(Microsoft("DynamicQuantizeMatMul"), {x, b, scales, points, bias},
               {1e-3f});
    ExpectSame(Microsoft("DynamicQuantizeMatMul"), {x, b, Scale(0.01f)},
               {1e-3f});
    const Tensor a = RandomBytes({2, 5, 16}, 4);
    ExpectSame(Microsoft("MatMulIntegerToFloat"),
               {a, b, Scale(0.02f), scales, Point(120), points, bias}, {1e-3f});
    ExpectSame(Microsoft("MatMulIntegerToFloat"),
               {a, b, Scale(0.02f), Scale(0.01f)}, {1e-3f});
  }
}

TEST(MicrosoftQuantizeTest, Gemm) {
  std::vector<int32_t> bias(7);
  for (int i = 0; i < 7; ++i) bias[i] = 100 * i - 300;
  const Operand c =
      Constant(MakeTestTensor<int32_t>(DataType::Int(32), {7}, bias));
  for (int flags = 0; flags < 4; ++flags) {
    const int64_t trans_a = flags & 1, trans_b = flags >> 1;
    const Operator op = Microsoft("QGemm", [=](Node* n) {
      SetInt(n, "transA", trans_a);
      SetInt(n, "transB", trans_b);
      SetFloat(n, "alpha", 1.5f);
    });
    const Tensor a =
        trans_a ? RandomBytes({16, 5}, 1) : RandomBytes({5, 16}, 1);
    const Operand b =
        Constant(trans_b ? RandomBytes({7, 16}, 2) : RandomBytes({16, 7}, 2));
    ExpectSame(op,
               {a, Scale(0.02f), Point(120), b, Scale(0.01f), Point(127), c,
                Scale(0.05f), Point(128)},
               kByte);
    // Floats, if nothing says how they become bytes.
    ExpectSame(op,
               {a, Scale(0.02f), Point(120), b, Scale(0.01f), Point(127), c},
               {1e-3f});
  }
}

TEST(MicrosoftQuantizeTest, Convolution) {
  std::vector<float> scales;
  for (int i = 0; i < 8; ++i) {
    scales.push_back(0.01f + 0.002f * static_cast<float>(i));
  }
  for (int64_t last : {0, 1}) {
    const Operator op = Microsoft("QLinearConv", [=](Node* n) {
      SetInt(n, "channels_last", last);
      SetInts(n, "pads", {1, 1, 1, 1});
      SetInts(n, "strides", {2, 1});
    });
    ExpectSame(
        op,
        {last ? RandomBytes({1, 7, 9, 3}, 1) : RandomBytes({1, 3, 7, 9}, 1),
         Scale(0.05f), Point(120),
         Constant(RandomBytes({8, 3, 3, 3}, 2, /*is_signed=*/true)),
         Constant(Floats({8}, scales)),
         Constant(SignedBytes({8}, std::vector<int8_t>(8, 0))), Scale(0.1f),
         Point(128),
         Constant(MakeTestTensor<int32_t>(DataType::Int(32), {8},
                                          {0, 1, -2, 3, 400, -500, 6, 7}))},
        kByte);
  }
}

TEST(MicrosoftQuantizeTest, Lstm) {
  constexpr int64_t kSteps = 4, kBatch = 2, kInput = 6, kHidden = 8;
  for (int64_t directions : {1, 2}) {
    const Operator op = Microsoft("DynamicQuantizeLSTM", [=](Node* n) {
      SetInt(n, "hidden_size", kHidden);
      onnx_frontend::SetString(n, "direction",
                               directions == 2 ? "bidirectional" : "forward");
    });
    const std::vector<int64_t> one = {directions};
    auto each = [&](float v) {
      return Constant(Floats(one, std::vector<float>(directions, v)));
    };
    auto point = [&](uint8_t v) {
      return Constant(Bytes(one, std::vector<uint8_t>(directions, v)));
    };
    ExpectSame(op,
               {RandomFloats({kSteps, kBatch, kInput}, 1),
                Constant(RandomBytes({directions, kInput, 4 * kHidden}, 2)),
                Constant(RandomBytes({directions, kHidden, 4 * kHidden}, 3)),
                Constant(RandomFloats({directions, 8 * kHidden}, 4)), LeftOut(),
                LeftOut(), LeftOut(), LeftOut(), each(0.01f), point(128),
                each(0.008f), point(120)},
               {2e-2f}, /*symbolic=*/false);
  }
}

}  // namespace
}  // namespace ingot
