// com.microsoft's Attention and MultiHeadAttention, compiled, against ONNX
// Runtime.
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

using onnx_frontend::Constant;
using onnx_frontend::LeftOut;
using onnx_frontend::MakeTestTensor;
using onnx_frontend::Operand;
using onnx_frontend::Operator;
using onnx_frontend::RandomFloats;
using onnx_frontend::SetFloat;
using onnx_frontend::SetInt;
using onnx_frontend::SetInts;
using Node = onnx::NodeProto;

constexpr int64_t kBatch = 2, kWords = 5, kWidth = 16, kHeads = 2, kSize = 8;

Tensor Ints(const std::vector<int64_t>& shape, const std::vector<int32_t>& v) {
  return MakeTestTensor<int32_t>(DataType::Int(32), shape, v);
}

// Shapes of heads are static, so the inputs' shapes have to be known.
void ExpectSame(const std::string& name, int outputs,
                const std::vector<Operand>& operands,
                const std::function<void(Node*)>& attributes = nullptr) {
  const Operator op = {name, "com.microsoft", 1,
                       [&](Node* n) {
                         SetInt(n, "num_heads", kHeads);
                         if (attributes != nullptr) attributes(n);
                       },
                       outputs};
  onnxruntime::ExpectSame(op, operands, {}, /*symbolic=*/false);
}

// A mask with some 0 of so many.
Tensor Mask(const std::vector<int64_t>& shape) {
  Tensor mask = *Tensor::Empty(DataType::Int(32), shape);
  for (int64_t i = 0; i < mask.NumElements(); ++i) {
    mask.mutable_data<int32_t>()[i] = i % 4 != 3;
  }
  return mask;
}

void Unidirectional(Node* n) { SetInt(n, "unidirectional", 1); }

TEST(MicrosoftAttentionTest, Attention) {
  const Tensor x = RandomFloats({kBatch, kWords, 12}, 1);
  const Operand w = Constant(RandomFloats({12, 3 * kWidth}, 2));
  const Operand bias = Constant(RandomFloats({3 * kWidth}, 3));
  ExpectSame("Attention", 1, {x, w, bias});
  ExpectSame("Attention", 1, {x, w, bias}, Unidirectional);
  ExpectSame("Attention", 1, {x, w, bias},
             [](Node* n) { SetFloat(n, "scale", 0.3f); });
  ExpectSame("Attention", 1, {x, w, bias, Ints({kBatch}, {5, 3})});
  // Where each sequence ends, then where it begins.
  ExpectSame("Attention", 1, {x, w, bias, Ints({2 * kBatch}, {5, 4, 1, 0})});
  ExpectSame("Attention", 1, {x, w, bias, Mask({kBatch, kWords})});
  ExpectSame("Attention", 1, {x, w, bias, Mask({kBatch, kWords, kWords})});
  // Keys and values of words before these.
  const Tensor past = RandomFloats({2, kBatch, kHeads, 3, kSize}, 4);
  ExpectSame("Attention", 2, {x, w, bias, LeftOut(), past});
  ExpectSame("Attention", 2, {x, w, bias, LeftOut(), past}, Unidirectional);
  ExpectSame("Attention", 2, {x, w, bias, Mask({kBatch, 3 + kWords}), past});
  ExpectSame("Attention", 1,
             {x, w, bias, LeftOut(), LeftOut(),
              RandomFloats({1, kHeads, kWords, kWords}, 5)});
  // Values of another width than queries and keys.
  ExpectSame("Attention", 1,
             {x, Constant(RandomFloats({12, 2 * 16 + 24}, 6)),
              Constant(RandomFloats({2 * 16 + 24}, 7))},
             [](Node* n) {
               SetInts(n, "qkv_hidden_sizes", {16, 16, 24});
             });
}

TEST(MicrosoftAttentionTest, MultiHeadAttention) {
  const std::vector<int64_t> words = {kBatch, kWords, kWidth};
  const Tensor q = RandomFloats(words, 1), k = RandomFloats(words, 2),
               v = RandomFloats(words, 3);
  const Operand bias = Constant(RandomFloats({3 * kWidth}, 4));
  ExpectSame("MultiHeadAttention", 1, {q, k, v});
  ExpectSame("MultiHeadAttention", 1, {q, k, v, bias});
  ExpectSame("MultiHeadAttention", 1, {q, k, v}, Unidirectional);
  ExpectSame("MultiHeadAttention", 1,
             {q, k, v, LeftOut(), Ints({kBatch}, {5, 3})});
  ExpectSame("MultiHeadAttention", 1,
             {q, k, v, LeftOut(), Mask({kBatch, kWords})});
  ExpectSame("MultiHeadAttention", 1,
             {q, k, v, LeftOut(), Mask({kBatch, kWords, kWords})});
  ExpectSame("MultiHeadAttention", 1,
             {q, k, v, LeftOut(), LeftOut(),
              RandomFloats({1, kHeads, kWords, kWords}, 5)});
  const std::vector<int64_t> kept = {kBatch, kHeads, 3, kSize};
  ExpectSame("MultiHeadAttention", 3,
             {q, k, v, LeftOut(), LeftOut(), LeftOut(), RandomFloats(kept, 6),
              RandomFloats(kept, 7)});
  // Of words of another text, whose heads are apart already.
  const std::vector<int64_t> apart = {kBatch, kHeads, 7, kSize};
  ExpectSame("MultiHeadAttention", 1,
             {q, RandomFloats(apart, 8), RandomFloats(apart, 9)});
  ExpectSame("MultiHeadAttention", 1,
             {q, RandomFloats(apart, 8), RandomFloats(apart, 9), bias});
  ExpectSame("MultiHeadAttention", 1,
             {q, RandomFloats({kBatch, 7, kWidth}, 8),
              RandomFloats({kBatch, 7, kWidth}, 9)});
}

}  // namespace
}  // namespace ingot
