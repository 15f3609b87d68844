// Attention and rotary embeddings against loops over every element.
#include <cmath>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

struct Sizes {
  int batch = 2, heads = 2, kv_heads = 2, queries = 3, keys = 4, size = 4,
      v_size = 5;
};

// q, k, v by head: [b, h, s, d]. `bias`(b, h, i, j) is added to the scores.
template <typename Bias>
std::vector<float> Reference(const Sizes& n, const std::vector<float>& q,
                             const std::vector<float>& k,
                             const std::vector<float>& v, double scale,
                             double softcap, const Bias& bias) {
  std::vector<float> y;
  for (int b = 0; b < n.batch; ++b) {
    for (int h = 0; h < n.heads; ++h) {
      const int kv = b * n.kv_heads + h / (n.heads / n.kv_heads);
      for (int i = 0; i < n.queries; ++i) {
        std::vector<double> p(n.keys);
        double total = 0;
        for (int j = 0; j < n.keys; ++j) {
          double s = 0;
          for (int d = 0; d < n.size; ++d) {
            s += double{q[((b * n.heads + h) * n.queries + i) * n.size + d]} *
                 k[(kv * n.keys + j) * n.size + d];
          }
          s *= scale;
          if (softcap > 0) s = softcap * std::tanh(s / softcap);
          p[j] = std::exp(s + bias(b, h, i, j));
          total += p[j];
        }
        // A query that may look at no key gives zeros.
        if (total == 0) total = 1;
        for (int d = 0; d < n.v_size; ++d) {
          double sum = 0;
          for (int j = 0; j < n.keys; ++j) {
            sum += p[j] / total * v[(kv * n.keys + j) * n.v_size + d];
          }
          y.push_back(static_cast<float>(sum));
        }
      }
    }
  }
  return y;
}

// [b, h, s, d] <-> [b, s, h * d]
std::vector<float> Swap(const std::vector<float>& x, int b, int m, int n,
                        int d) {
  std::vector<float> y;
  for (int i = 0; i < b; ++i) {
    for (int k = 0; k < n; ++k) {
      for (int j = 0; j < m; ++j) {
        for (int e = 0; e < d; ++e)
          y.push_back(x[((i * m + j) * n + k) * d + e]);
      }
    }
  }
  return y;
}

Tensor Heads(int b, int h, int s, int d, unsigned seed) {
  return RandomFloats({b, h, s, d}, seed);
}

TEST(AttentionTest, PlainCappedAndMasked) {
  const Sizes n;
  const Tensor q = Heads(n.batch, n.heads, n.queries, n.size, 1);
  const Tensor k = Heads(n.batch, n.kv_heads, n.keys, n.size, 2);
  const Tensor v = Heads(n.batch, n.kv_heads, n.keys, n.v_size, 3);
  const Tensor mask = RandomFloats({n.queries, n.keys}, 4);
  ExpectNear(RunFloats({"Attention"}, {q, k, v}),
             Reference(n, ValuesOf(q), ValuesOf(k), ValuesOf(v), 0.5, 0,
                       [](int, int, int, int) { return 0.0; }));
  const Operator capped{"Attention", "", 23, [](onnx::NodeProto* node) {
                          SetFloat(node, "scale", 0.75f);
                          SetFloat(node, "softcap", 2);
                        }};
  ExpectNear(RunFloats(capped, {q, k, v, mask}),
             Reference(n, ValuesOf(q), ValuesOf(k), ValuesOf(v), 0.75, 2,
                       [&](int, int, int i, int j) {
                         return double{ValuesOf(mask)[i * n.keys + j]};
                       }));
  Tensor allowed = *Tensor::Empty(DataType::Bool(), {n.queries, n.keys});
  for (int i = 0; i < n.queries * n.keys; ++i) {
    allowed.mutable_data<bool>()[i] = i % 3 != 1;
  }
  ExpectNear(RunFloats({"Attention"}, {q, k, v, allowed}),
             Reference(n, ValuesOf(q), ValuesOf(k), ValuesOf(v), 0.5, 0,
                       [&](int, int, int i, int j) {
                         return (i * n.keys + j) % 3 != 1 ? 0.0 : -INFINITY;
                       }));
}

// Heads side by side, two queries' heads to one of keys, causal, with a past.
TEST(AttentionTest, GroupsCausalPast) {
  Sizes n;
  n.heads = 4;
  n.queries = 2;
  n.keys = 5;  // three of them past
  const Tensor q = RandomFloats({n.batch, n.queries, n.heads * n.size}, 5);
  const Tensor k = RandomFloats({n.batch, 2, n.kv_heads * n.size}, 6);
  const Tensor v = RandomFloats({n.batch, 2, n.kv_heads * n.v_size}, 7);
  const Tensor past_k = Heads(n.batch, n.kv_heads, 3, n.size, 8);
  const Tensor past_v = Heads(n.batch, n.kv_heads, 3, n.v_size, 9);
  auto join = [&](const Tensor& past, const Tensor& now, int d) {
    const std::vector<float> p = ValuesOf(past);
    const std::vector<float> s = Swap(ValuesOf(now), n.batch, 2, n.kv_heads, d);
    std::vector<float> all;
    for (int g = 0; g < n.batch * n.kv_heads; ++g) {
      all.insert(all.end(), p.begin() + g * 3 * d, p.begin() + (g + 1) * 3 * d);
      all.insert(all.end(), s.begin() + g * 2 * d, s.begin() + (g + 1) * 2 * d);
    }
    return all;
  };
  const std::vector<float> keys = join(past_k, k, n.size);
  const std::vector<float> values = join(past_v, v, n.v_size);
  const Operator op{"Attention", "", 23,
                    [](onnx::NodeProto* node) {
                      SetInt(node, "q_num_heads", 4);
                      SetInt(node, "kv_num_heads", 2);
                      SetInt(node, "is_causal", 1);
                    },
                    3};
  absl::StatusOr<std::vector<Tensor>> out =
      RunOperator(op, {q, k, v, LeftOut(), past_k, past_v});
  ASSERT_TRUE(out.ok()) << out.status();
  const std::vector<float> expected = Reference(
      n, Swap(ValuesOf(q), n.batch, n.queries, n.heads, n.size), keys, values,
      0.5, 0,
      [](int, int, int i, int j) { return j <= i + 3 ? 0.0 : -INFINITY; });
  ExpectNear(ValuesOf((*out)[0]),
             Swap(expected, n.batch, n.heads, n.queries, n.v_size));
  ExpectNear(ValuesOf((*out)[1]), keys);
  ExpectNear(ValuesOf((*out)[2]), values);
}

// The first query may look at no key by the mask, the second at none that is
// not masked and before it.
TEST(AttentionTest, QueriesWithoutKeysGiveZeros) {
  const Sizes n;
  const Tensor q = Heads(n.batch, n.heads, n.queries, n.size, 31);
  const Tensor k = Heads(n.batch, n.kv_heads, n.keys, n.size, 32);
  const Tensor v = Heads(n.batch, n.kv_heads, n.keys, n.v_size, 33);
  const int allowed[] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 1};
  Tensor mask = *Tensor::Empty(DataType::Bool(), {n.queries, n.keys});
  for (int i = 0; i < 12; ++i) mask.mutable_data<bool>()[i] = allowed[i] != 0;
  const Operator op{"Attention", "", 24,
                    [](onnx::NodeProto* node) {
                      SetInt(node, "is_causal", 1);
                      SetInt(node, "qk_matmul_output_mode", 3);
                      for (int i = 1; i < 3; ++i) node->set_output(i, "");
                    },
                    4};
  auto bias = [&](int, int, int i, int j) {
    return allowed[i * n.keys + j] != 0 && j <= i ? 0.0 : -INFINITY;
  };
  absl::StatusOr<std::vector<Tensor>> out = RunOperator(op, {q, k, v, mask});
  ASSERT_TRUE(out.ok()) << out.status();
  ExpectNear(ValuesOf((*out)[0]),
             Reference(n, ValuesOf(q), ValuesOf(k), ValuesOf(v), 0.5, 0, bias));
  const std::vector<float> weights = ValuesOf((*out)[1]);
  for (int j = 0; j < 2 * n.keys; ++j) EXPECT_EQ(weights[j], 0) << j;
  EXPECT_NEAR(weights[2 * n.keys] + weights[2 * n.keys + 2], 1, 1e-6);
}

// Keys of a cache, not all of which count; the last query is at the last that
// does. The mask is for the first keys alone.
TEST(AttentionTest, LengthsOfEachBatch) {
  Sizes n;
  n.queries = 2;
  n.keys = 6;
  const Tensor q = Heads(n.batch, n.heads, n.queries, n.size, 41);
  const Tensor k = Heads(n.batch, n.kv_heads, n.keys, n.size, 42);
  const Tensor v = Heads(n.batch, n.kv_heads, n.keys, n.v_size, 43);
  const Tensor mask = RandomFloats({n.queries, 5}, 44);
  const int lengths[] = {6, 3};
  for (const int causal : {0, 1}) {
    for (const int left : {-1, 1}) {
      const Operator op{"Attention", "", 25, [=](onnx::NodeProto* node) {
                          SetInt(node, "is_causal", causal);
                          SetInt(node, "left_window_size", left);
                        }};
      const std::vector<float> expected = Reference(
          n, ValuesOf(q), ValuesOf(k), ValuesOf(v), 0.5, 0,
          [&](int b, int, int i, int j) {
            const int place = i + lengths[b] - n.queries;
            const bool counts = j < lengths[b] && j < 5 &&
                                (causal == 0 || j <= place) &&
                                (left < 0 || place - j <= left);
            return counts ? double{ValuesOf(mask)[i * 5 + j]} : -INFINITY;
          });
      ExpectNear(RunFloats(op, {q, k, v, mask, LeftOut(), LeftOut(),
                                Longs({2}, {6, 3})}),
                 expected);
    }
  }
}

// A mask for the first key alone leaves the others out and is not for each of
// them, which a run that finds such a mask says.
TEST(AttentionTest, MasksOfFewerKeysThanThereAre) {
  Sizes n;
  const Tensor q = Heads(n.batch, n.heads, n.queries, n.size, 61);
  const Tensor k = Heads(n.batch, n.kv_heads, n.keys, n.size, 62);
  const Tensor v = Heads(n.batch, n.kv_heads, n.keys, n.v_size, 63);
  const Operator op{"Attention", "", 24};
  const Tensor one = RandomFloats({n.queries, 1}, 64);
  auto first = [&](int, int, int i, int j) {
    return j == 0 ? double{ValuesOf(one)[i]} : -INFINITY;
  };
  ExpectNear(
      RunFloats(op, {q, k, v, one}),
      Reference(n, ValuesOf(q), ValuesOf(k), ValuesOf(v), 0.5, 0, first));
  EXPECT_THAT(
      RunOperator(op, {q, k, v, Symbolic(one)}).status().ToString(),
      testing::HasSubstr("dimension 1 of f32[3, 1] is not that of f32[3, 4]"));
  const Tensor all = RandomFloats({n.queries, n.keys}, 65);
  ExpectNear(RunFloats(op, {q, k, v, Symbolic(all)}),
             RunFloats(op, {q, k, v, all}));
}

// A case of ONNX's: equal scores, so that each query gives the mean of the
// values in its window.
TEST(AttentionTest, WindowsOfBothSides) {
  const Operator op{"Attention", "", 25, [](onnx::NodeProto* node) {
                      SetInt(node, "left_window_size", 1);
                      SetInt(node, "right_window_size", 2);
                    }};
  const Tensor zeros = Floats({1, 1, 5, 1}, {0, 0, 0, 0, 0});
  ExpectNear(
      RunFloats(op, {zeros, zeros, Floats({1, 1, 5, 1}, {0, 1, 2, 3, 4})}),
      {1, 1.5f, 2.5f, 3, 3.5f});
}

TEST(AttentionTest, PrecisionOfTheSoftmax) {
  const Sizes n;
  const Tensor q = Heads(n.batch, n.heads, n.queries, n.size, 51);
  const Tensor k = Heads(n.batch, n.kv_heads, n.keys, n.size, 52);
  const Tensor v = Heads(n.batch, n.kv_heads, n.keys, n.v_size, 53);
  auto precise = [](int type) {
    return Operator{"Attention", "", 24, [=](onnx::NodeProto* node) {
                      SetInt(node, "softmax_precision", type);
                    }};
  };
  ExpectNear(RunFloats(precise(onnx::TensorProto::DOUBLE), {q, k, v}),
             Reference(n, ValuesOf(q), ValuesOf(k), ValuesOf(v), 0.5, 0,
                       [](int, int, int, int) { return 0.0; }));
  EXPECT_TRUE(absl::IsInvalidArgument(
      RunOperator(precise(onnx::TensorProto::INT64), {q, k, v}).status()));
}

// score_mod halves the scores, prob_mod doubles the weights.
TEST(AttentionTest, FlexThroughGraphs) {
  Sizes n;
  n.heads = 4;
  const Tensor q = Heads(n.batch, n.heads, n.queries, n.size, 61);
  const Tensor k = Heads(n.batch, n.kv_heads, n.keys, n.size, 62);
  const Tensor v = Heads(n.batch, n.kv_heads, n.keys, n.v_size, 63);
  auto doubled = [](onnx::NodeProto* node, const char* name, const char* op) {
    auto* a = node->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::GRAPH);
    a->mutable_g()->add_input()->set_name("s");
    auto* constant = a->mutable_g()->add_initializer();
    constant->set_name("two");
    constant->set_data_type(onnx::TensorProto::FLOAT);
    constant->add_float_data(2);
    auto* inner = a->mutable_g()->add_node();
    inner->set_op_type(op);
    inner->add_input("s");
    inner->add_input("two");
    inner->add_output("r");
    a->mutable_g()->add_output()->set_name("r");
  };
  const Operator op{"FlexAttention", "ai.onnx.preview", 1,
                    [&](onnx::NodeProto* node) {
                      doubled(node, "score_mod", "Div");
                      doubled(node, "prob_mod", "Mul");
                    }};
  std::vector<float> expected =
      Reference(n, ValuesOf(q), ValuesOf(k), ValuesOf(v), 0.25, 0,
                [](int, int, int, int) { return 0.0; });
  for (float& y : expected) y *= 2;
  ExpectNear(RunFloats(op, {q, k, v}), expected);
}

TEST(AttentionTest, MicrosoftMultiHead) {
  Sizes n;
  n.v_size = n.size;
  const int width = n.heads * n.size;
  const Tensor q = RandomFloats({n.batch, n.queries, width}, 10);
  const Tensor k = RandomFloats({n.batch, n.keys, width}, 11);
  const Tensor v = RandomFloats({n.batch, n.keys, width}, 12);
  const Tensor bias = RandomFloats({3 * width}, 13);
  const Tensor mask = MakeTestTensor<int32_t>(
      DataType::Int(32), {n.batch, n.keys}, {1, 1, 0, 1, 1, 0, 0, 1});
  auto biased = [&](const Tensor& x, int which, int length) {
    std::vector<float> values = ValuesOf(x);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] += ValuesOf(bias)[which * width + i % width];
    }
    return Swap(values, n.batch, length, n.heads, n.size);
  };
  const Operator op{
      "MultiHeadAttention", "com.microsoft", 1,
      [](onnx::NodeProto* node) { SetInt(node, "num_heads", 2); }};
  const std::vector<float> expected = Reference(
      n, biased(q, 0, n.queries), biased(k, 1, n.keys), biased(v, 2, n.keys),
      0.5, 0, [&](int b, int, int, int j) {
        return mask.values<int32_t>()[b * n.keys + j] != 0 ? 0.0 : -10000;
      });
  ExpectNear(RunFloats(op, {q, k, v, bias, mask}),
             Swap(expected, n.batch, n.heads, n.queries, n.size));
}

TEST(AttentionTest, MicrosoftPacked) {
  Sizes n;
  n.queries = n.keys = 3;
  n.v_size = n.size;
  const int width = n.heads * n.size, in = 6;
  const Tensor x = RandomFloats({n.batch, n.keys, in}, 20);
  const Tensor w = RandomFloats({in, 3 * width}, 21);
  const Tensor bias = RandomFloats({3 * width}, 22);
  auto projected = [&](int which) {
    std::vector<float> y;
    for (int row = 0; row < n.batch * n.keys; ++row) {
      for (int i = 0; i < width; ++i) {
        double sum = ValuesOf(bias)[which * width + i];
        for (int d = 0; d < in; ++d) {
          sum += double{ValuesOf(x)[row * in + d]} *
                 ValuesOf(w)[d * 3 * width + which * width + i];
        }
        y.push_back(static_cast<float>(sum));
      }
    }
    return Swap(y, n.batch, n.keys, n.heads, n.size);
  };
  const Operator op{"Attention", "com.microsoft", 1, [](onnx::NodeProto* node) {
                      SetInt(node, "num_heads", 2);
                      SetInt(node, "unidirectional", 1);
                    }};
  const std::vector<float> expected = Reference(
      n, projected(0), projected(1), projected(2), 0.5, 0,
      [](int, int, int i, int j) { return j <= i ? 0.0 : -INFINITY; });
  ExpectNear(RunFloats(op, {x, w, bias}),
             Swap(expected, n.batch, n.heads, n.queries, n.size), 1e-4f);
}

// Pairs (p, q) become (p cos - q sin, p sin + q cos).
std::vector<float> Rotated(const std::vector<float>& x, int rows, int size,
                           int rotated, bool interleaved,
                           const std::function<double(int, int)>& angle) {
  std::vector<float> y = x;
  const int half = rotated / 2;
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < half; ++i) {
      const int first = r * size + (interleaved ? 2 * i : i);
      const int second = interleaved ? first + 1 : first + half;
      const double c = std::cos(angle(r, i)), s = std::sin(angle(r, i));
      y[first] = static_cast<float>(x[first] * c - x[second] * s);
      y[second] = static_cast<float>(x[first] * s + x[second] * c);
    }
  }
  return y;
}

TEST(RotaryTest, HalvesAndNeighbours) {
  // Angles position * (i + 1) / 8, for 6 positions and 2 pairs.
  std::vector<float> cosines, sines;
  for (int p = 0; p < 6; ++p) {
    for (int i = 0; i < 2; ++i) {
      cosines.push_back(static_cast<float>(std::cos(p * (i + 1) / 8.0)));
      sines.push_back(static_cast<float>(std::sin(p * (i + 1) / 8.0)));
    }
  }
  const Tensor cos = Floats({6, 2}, cosines), sin = Floats({6, 2}, sines);
  const Tensor x = Heads(1, 2, 3, 6, 14);  // 4 of 6 are rotated
  const Tensor at = Longs({1, 3}, {5, 0, 2});
  const int positions[] = {5, 0, 2};
  auto angle = [&](int row, int i) {
    return positions[row % 3] * (i + 1) / 8.0;
  };
  for (int interleaved : {0, 1}) {
    const Operator op{"RotaryEmbedding", "", 23, [=](onnx::NodeProto* node) {
                        SetInt(node, "interleaved", interleaved);
                        SetInt(node, "rotary_embedding_dim", 4);
                      }};
    ExpectNear(RunFloats(op, {x, cos, sin, at}),
               Rotated(ValuesOf(x), 6, 6, 4, interleaved != 0, angle));
  }
  // com.microsoft: positions come second, one says where the first stands.
  const Tensor flat = RandomFloats({1, 3, 8}, 15);
  const Operator microsoft{"RotaryEmbedding", "com.microsoft", 1};
  const std::vector<float> by_head = Swap(ValuesOf(flat), 1, 3, 2, 4);
  ExpectNear(RunFloats(microsoft, {flat, Longs({1}, {2}), cos, sin}),
             Swap(Rotated(by_head, 6, 4, 4, false,
                          [](int row, int i) {
                            return (2 + row % 3) * (i + 1) / 8.0;
                          }),
                  1, 2, 3, 4));
}

}  // namespace
}  // namespace ingot::onnx_frontend
