// Operators of the domain com.microsoft on floats, compiled, against ONNX
// Runtime.
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
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
using onnx_frontend::Longs;
using onnx_frontend::MakeTestTensor;
using onnx_frontend::Operand;
using onnx_frontend::Operator;
using onnx_frontend::RandomFloats;
using onnx_frontend::SetFloat;
using onnx_frontend::SetInt;
using onnx_frontend::SetInts;
using onnx_frontend::SetString;
using onnxruntime::ExpectSame;
using Node = onnx::NodeProto;

Operator Microsoft(const std::string& op,
                   std::function<void(Node*)> attributes = nullptr,
                   int outputs = 1) {
  return {op, "com.microsoft", 1, std::move(attributes), outputs};
}

Tensor Ints(const std::vector<int64_t>& shape, const std::vector<int32_t>& v) {
  return MakeTestTensor<int32_t>(DataType::Int(32), shape, v);
}

Operand Weight(const std::vector<int64_t>& shape, unsigned seed) {
  return Constant(RandomFloats(shape, seed));
}

TEST(MicrosoftTest, Gelus) {
  const Tensor x = RandomFloats({3, 17}, 1), bias = RandomFloats({17}, 2);
  ExpectSame(Microsoft("Gelu"), {x});
  ExpectSame(Microsoft("BiasGelu"), {x, bias});
  ExpectSame(Microsoft("FastGelu"), {x});
  ExpectSame(Microsoft("FastGelu"), {x, bias});
  ExpectSame(Microsoft("QuickGelu"), {x});
  ExpectSame(
      Microsoft("QuickGelu", [](Node* n) { SetFloat(n, "alpha", 0.7f); }), {x});
}

TEST(MicrosoftTest, FusedMatMul) {
  for (int flags : {0, 1, 2, 7, 9, 12, 15}) {
    const bool trans_a = flags & 1, trans_b = flags & 2, rows_a = flags & 4,
               rows_b = flags & 8;
    const Operator op = Microsoft("FusedMatMul", [=](Node* n) {
      SetFloat(n, "alpha", 0.5f);
      SetInt(n, "transA", trans_a);
      SetInt(n, "transB", trans_b);
      SetInt(n, "transBatchA", rows_a);
      SetInt(n, "transBatchB", rows_b);
    });
    // Of [batch, rows, columns], with the rows before the batch, and the rows
    // and columns swapped.
    auto shape = [](int64_t rows, int64_t columns, bool trans, bool first) {
      if (trans) std::swap(rows, columns);
      return first ? std::vector<int64_t>{rows, 3, columns}
                   : std::vector<int64_t>{3, rows, columns};
    };
    ExpectSame(op, {RandomFloats(shape(5, 16, trans_a, rows_a), 1),
                    RandomFloats(shape(16, 7, trans_b, rows_b), 2)});
  }
}

TEST(MicrosoftTest, FusedConvAndGemm) {
  const Tensor x = RandomFloats({1, 3, 7, 9}, 1);
  const Operand w = Weight({16, 3, 3, 3}, 2), bias = Weight({16}, 3);
  for (const char* name :
       {"Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid"}) {
    const Operator op = Microsoft("FusedConv", [name](Node* n) {
      const std::string activation = name;
      SetString(n, "activation", activation);
      SetInts(n, "pads", {1, 1, 1, 1});
      std::vector<float> params;
      if (activation == "LeakyRelu") params = {0.25f};
      if (activation == "Clip") params = {-0.5f, 1.5f};
      if (activation == "HardSigmoid") params = {0.3f, 0.4f};
      if (params.empty()) return;
      auto* a = n->add_attribute();
      a->set_name("activation_params");
      a->set_type(onnx::AttributeProto::FLOATS);
      for (float p : params) a->add_floats(p);
    });
    ExpectSame(op, {x, w, bias, RandomFloats({1, 16, 7, 9}, 4)});
    const Operator gemm = Microsoft("FusedGemm", [name](Node* n) {
      const std::string activation = name;
      SetString(n, "activation", activation == "Clip" ? "Relu" : activation);
      if (activation == "LeakyRelu") SetFloat(n, "activation_alpha", 0.25f);
      if (activation == "HardSigmoid") {
        SetFloat(n, "activation_alpha", 0.3f);
        SetFloat(n, "activation_beta", 0.4f);
      }
      SetInt(n, "transB", 1);
      SetFloat(n, "alpha", 0.5f);
    });
    ExpectSame(gemm,
               {RandomFloats({5, 17}, 5), Weight({8, 17}, 6), Weight({8}, 7)});
  }
}

TEST(MicrosoftTest, Normalizations) {
  const Tensor x = RandomFloats({2, 3, 16}, 1),
               skip = RandomFloats({2, 3, 16}, 2);
  const Operand gamma = Weight({16}, 3), beta = Weight({16}, 4),
                bias = Weight({16}, 5);
  auto sum_too = [](Node* n) {
    SetFloat(n, "epsilon", 1e-3f);
    n->set_output(1, "");
    n->set_output(2, "");
  };
  ExpectSame(Microsoft("SkipLayerNormalization"), {x, skip, gamma, beta, bias});
  ExpectSame(Microsoft("SkipLayerNormalization", sum_too, 4),
             {x, skip, gamma, beta});
  ExpectSame(Microsoft("SkipSimplifiedLayerNormalization", sum_too, 4),
             {x, skip, gamma, bias});
  ExpectSame(Microsoft("SkipSimplifiedLayerNormalization"), {x, skip, gamma});
  // The addend may be the same for every sequence.
  ExpectSame(Microsoft("SkipLayerNormalization"),
             {x, RandomFloats({1, 3, 16}, 6), gamma, beta});
  ExpectSame(Microsoft("SkipSimplifiedLayerNormalization"),
             {x, RandomFloats({3, 16}, 6), gamma});
  ExpectSame({"SimplifiedLayerNormalization", "", 17,
              [](Node* n) { SetInt(n, "axis", -1); }},
             {x, gamma});
  ExpectSame(
      Microsoft(
          "EmbedLayerNormalization",
          [](Node* n) { SetFloat(n, "epsilon", 1e-5f); }, 2),
      {Ints({2, 3}, {1, 4, 0, 2, 2, 3}), Ints({2, 3}, {0, 0, 1, 1, 0, 1}),
       Weight({5, 16}, 7), Weight({8, 16}, 8), Weight({2, 16}, 9), gamma, beta,
       Ints({2, 3}, {1, 1, 0, 1, 1, 1})});
}

TEST(MicrosoftTest, RotaryEmbedding) {
  const Operand cosine = Weight({20, 4}, 1), sine = Weight({20, 4}, 2);
  const Tensor flat = RandomFloats({2, 3, 16}, 3);
  const Tensor heads = RandomFloats({2, 2, 3, 8}, 4);
  const Tensor first = Longs({1}, {5});
  const Tensor places = Longs({2, 3}, {0, 1, 2, 7, 3, 19});
  for (int64_t interleaved : {0, 1}) {
    const Operator op = Microsoft("RotaryEmbedding", [=](Node* n) {
      SetInt(n, "interleaved", interleaved);
    });
    ExpectSame(op, {flat, first, cosine, sine}, {}, /*symbolic=*/false);
    ExpectSame(op, {flat, places, cosine, sine}, {}, /*symbolic=*/false);
    ExpectSame(op, {heads, places, cosine, sine}, {}, /*symbolic=*/false);
    // A part of each head.
    const Operator part = Microsoft("RotaryEmbedding", [=](Node* n) {
      SetInt(n, "interleaved", interleaved);
      SetInt(n, "rotary_embedding_dim", 4);
      SetInt(n, "num_heads", 2);
    });
    ExpectSame(part, {flat, places, Weight({20, 2}, 1), Weight({20, 2}, 2)}, {},
               /*symbolic=*/false);
  }
}

// Positions of three kinds, each of which decides on a share of the angles.
TEST(MicrosoftTest, RotaryEmbeddingOfThreePositions) {
  const Tensor places =
      Longs({3, 2, 3}, {0, 1, 2, 7, 3, 19, 4, 4, 4, 9, 0, 1, 8, 2, 6, 5, 3, 1});
  for (int64_t flags : {0, 1, 2, 3}) {
    const Operator op = Microsoft("MRotaryEmbedding", [=](Node* n) {
      SetInt(n, "interleaved", flags & 1);
      SetInt(n, "mrope_layout", flags / 2);
      SetInts(n, "mrope_section", {2, 1, 1});
    });
    ExpectSame(op,
               {RandomFloats({2, 2, 3, 8}, 4), places, Weight({20, 4}, 1),
                Weight({20, 4}, 2)},
               {}, /*symbolic=*/false);
  }
}

// Layers of decoders whose memory is a state.
TEST(MicrosoftTest, States) {
  const Tensor x = RandomFloats({2, 3, 5}, 1);
  for (int64_t dilation : {1, 2}) {
    ExpectSame(Microsoft(
                   "CausalConvWithState",
                   [=](Node* n) {
                     SetString(n, "activation", "silu");
                     SetInt(n, "dilation", dilation);
                   },
                   2),
               {x, Weight({3, 1, 4}, 2), Weight({3}, 3),
                RandomFloats({2, 3, 3 * dilation}, 4)});
  }
  ExpectSame(
      Microsoft(
          "CausalConvWithState", [](Node* n) { SetInt(n, "channels_last", 1); },
          2),
      {x, Weight({5, 1, 4}, 2), Weight({5}, 3), RandomFloats({2, 3, 5}, 4)});
  const Tensor wide = RandomFloats({2, 3, 8}, 5);
  ExpectSame(Microsoft("GatedRMSNorm"), {wide, Weight({4}, 6), wide}, {},
             /*symbolic=*/false);
  ExpectSame(Microsoft("GatedAdd"), {wide, wide, RandomFloats({2, 3, 1}, 7)});
  ExpectSame(Microsoft("LinearAttentionGate", nullptr, 2),
             {wide, Weight({8}, 8), Weight({8}, 9), wide});
}

// Several heads of queries share one of keys and values, and the other way
// round.
TEST(MicrosoftTest, LinearAttention) {
  struct Heads {
    int64_t query, key, value;
  };
  for (const Heads& heads : {Heads{4, 2, 2}, {2, 2, 4}, {2, 4, 4}}) {
    const Operator op = Microsoft(
        "LinearAttention",
        [&](Node* n) {
          SetInt(n, "q_num_heads", heads.query);
          SetInt(n, "kv_num_heads", heads.value);
        },
        2);
    const Tensor head = RandomFloats({2, 3, heads.value}, 4);
    ExpectSame(op,
               {RandomFloats({2, 3, 2 * heads.query}, 1),
                RandomFloats({2, 3, 2 * heads.key}, 2),
                RandomFloats({2, 3, 4 * heads.value}, 3),
                RandomFloats({2, heads.value, 2, 4}, 5), head, head},
               {}, /*symbolic=*/false);
  }
}

TEST(MicrosoftTest, DistancesOfRows) {
  for (const char* metric : {"euclidean", "sqeuclidean"}) {
    ExpectSame(
        Microsoft("CDist", [=](Node* n) { SetString(n, "metric", metric); }),
        {RandomFloats({5, 7}, 1), Weight({9, 7}, 2)});
  }
}

// Bytes that look like anything.
Tensor RandomBytes(const std::vector<int64_t>& shape, uint32_t seed) {
  Tensor x = *Tensor::Empty(DataType::UInt(8), shape);
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    seed = seed * 1664525 + 1013904223;
    x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(seed >> 24);
  }
  return x;
}

TEST(MicrosoftTest, MatMulNBits) {
  for (int64_t bits : {2, 4, 8}) {
    for (int64_t depth : {32, 80}) {
      const int64_t n = 17, block = 32, blocks = (depth + block - 1) / block;
      const Operator op = Microsoft("MatMulNBits", [=](Node* node) {
        SetInt(node, "K", depth);
        SetInt(node, "N", n);
        SetInt(node, "bits", bits);
        SetInt(node, "block_size", block);
      });
      const Operand weights =
          Constant(RandomBytes({n, blocks, block * bits / 8}, 7));
      const Operand scales = Weight({n, blocks}, 8);
      const Operand points =
          Constant(RandomBytes({n, (blocks * bits + 7) / 8}, 9));
      const onnxruntime::Room room{1e-3f};
      for (const std::vector<int64_t>& rows :
           std::vector<std::vector<int64_t>>{{1}, {2, 3}}) {
        std::vector<int64_t> shape = rows;
        shape.push_back(depth);
        SCOPED_TRACE(testing::Message() << bits << " bits, depth " << depth);
        const Tensor x = RandomFloats(shape, 10);
        ExpectSame(op, {x, weights, scales, points}, room);
        ExpectSame(op,
                   {x, weights, scales, LeftOut(), LeftOut(), Weight({n}, 11)},
                   room);
      }
    }
  }
}

TEST(MicrosoftTest, GatherBlockQuantized) {
  const Tensor rows = Longs({2, 3}, {0, 4, 1, 2, 3, 4});
  for (int64_t bits : {4, 8}) {
    const Operator op = Microsoft("GatherBlockQuantized", [=](Node* n) {
      SetInt(n, "gather_axis", 0);
      SetInt(n, "quantize_axis", 1);
      SetInt(n, "block_size", 16);
      SetInt(n, "bits", bits);
    });
    const Operand data = Constant(RandomBytes({5, 48 * bits / 8}, 1));
    const Operand scales = Weight({5, 3}, 2);
    ExpectSame(op, {data, rows, scales}, {}, /*symbolic=*/false);
    ExpectSame(
        op,
        {data, rows, scales, Constant(RandomBytes({5, (3 * bits + 7) / 8}, 3))},
        {}, /*symbolic=*/false);
  }
}

// Two tokens in two sequences, of experts that each has its own weights.
void ExpectExperts(const std::string& activation, bool normalized, int64_t k,
                   bool swiglu) {
  SCOPED_TRACE(activation);
  constexpr int64_t kExperts = 5, kHidden = 16, kInner = 24;
  const int64_t first = swiglu ? 2 * kInner : kInner;
  const Operator op = Microsoft("MoE", [=](Node* n) {
    SetInt(n, "k", k);
    SetString(n, "activation_type", activation);
    SetInt(n, "normalize_routing_weights", normalized);
    if (swiglu) {
      SetInt(n, "swiglu_fusion", 1);
      SetFloat(n, "swiglu_limit", 1.5f);
      SetFloat(n, "activation_alpha", 1.702f);
      SetFloat(n, "activation_beta", 1.0f);
    }
  });
  const std::vector<Operand> operands = {
      RandomFloats({2, 3, kHidden}, 1),       RandomFloats({6, kExperts}, 2),
      Weight({kExperts, first, kHidden}, 3),  Weight({kExperts, first}, 4),
      Weight({kExperts, kHidden, kInner}, 5), Weight({kExperts, kHidden}, 6)};
  ExpectSame(op, operands, {1e-3f}, /*symbolic=*/false);
  std::vector<Operand> flat = operands;
  flat[0] = RandomFloats({6, kHidden}, 1);
  flat[3] = flat[5] = LeftOut();
  ExpectSame(op, flat, {1e-3f}, /*symbolic=*/false);
}

TEST(MicrosoftTest, MixtureOfExperts) {
  for (const char* name : {"relu", "gelu", "silu", "identity"}) {
    ExpectExperts(name, /*normalized=*/false, 1, /*swiglu=*/false);
    ExpectExperts(name, /*normalized=*/true, 3, /*swiglu=*/false);
  }
  ExpectExperts("swiglu", /*normalized=*/false, 2, /*swiglu=*/true);
  ExpectExperts("swiglu", /*normalized=*/true, 4, /*swiglu=*/true);
}

TEST(MicrosoftTest, QuantizedMixtureOfExperts) {
  constexpr int64_t kExperts = 4, kHidden = 64, kInner = 32;
  for (int64_t bits : {4, 8}) {
    for (int64_t block : {0, 32}) {
      for (int64_t normalized : {0, 1}) {
        SCOPED_TRACE(testing::Message()
                     << bits << " bits, blocks of " << block);
        const Operator op = Microsoft("QMoE", [=](Node* n) {
          SetInt(n, "k", 2);
          SetString(n, "activation_type", "swiglu");
          SetInt(n, "normalize_routing_weights", normalized);
          SetInt(n, "swiglu_fusion", 1);
          SetInt(n, "expert_weight_bits", bits);
          SetFloat(n, "activation_alpha", 1.702f);
          SetFloat(n, "activation_beta", 1.0f);
          SetFloat(n, "swiglu_limit", 7.0f);
          if (block > 0) SetInt(n, "block_size", block);
        });
        auto scales = [&](int64_t rows, int64_t depth, unsigned seed) {
          std::vector<int64_t> shape = {kExperts, rows};
          if (block > 0) shape.push_back(depth / block);
          Tensor t = RandomFloats(shape, seed);
          for (int64_t i = 0; i < t.NumElements(); ++i) {
            t.mutable_data<float>()[i] *= 0.01f;
          }
          return Constant(t);
        };
        std::vector<Operand> operands = {
            RandomFloats({6, kHidden}, 1),
            RandomFloats({6, kExperts}, 2),
            Constant(
                RandomBytes({kExperts, 2 * kInner, kHidden * bits / 8}, 3)),
            scales(2 * kInner, kHidden, 4),
            Weight({kExperts, 2 * kInner}, 5),
            Constant(RandomBytes({kExperts, kHidden, kInner * bits / 8}, 6)),
            scales(kHidden, kInner, 7),
            Weight({kExperts, kHidden}, 8)};
        ExpectSame(op, operands, {1e-3f}, /*symbolic=*/false);
        if (block == 0) continue;
        // The router weighs by other numbers than it chooses by.
        Tensor shares = RandomFloats({6, kExperts}, 9);
        for (float& share :
             absl::MakeSpan(shares.mutable_data<float>(), 6 * kExperts)) {
          share = std::fabs(share);
        }
        operands.resize(14, LeftOut());
        operands.push_back(shares);
        ExpectSame(op, operands, {1e-3f}, /*symbolic=*/false);
      }
    }
  }
}

}  // namespace
}  // namespace ingot
