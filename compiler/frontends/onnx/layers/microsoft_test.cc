// com.microsoft's operators against their formulas, written out here.
#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using testing::ElementsAre;

Operator Microsoft(const std::string& op,
                   std::function<void(onnx::NodeProto*)> attributes = nullptr,
                   int outputs = 1) {
  return {op, "com.microsoft", 1, std::move(attributes), outputs};
}

// a [m, k] times b [k, n], row-major.
std::vector<float> Product(const std::vector<float>& a,
                           const std::vector<float>& b, int m, int k, int n) {
  std::vector<float> c(m * n, 0);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int r = 0; r < k; ++r) sum += double{a[i * k + r]} * b[r * n + j];
      c[i * n + j] = static_cast<float>(sum);
    }
  }
  return c;
}

TEST(MicrosoftTest, Gelus) {
  const Tensor x = RandomFloats({2, 5}, 1), bias = RandomFloats({5}, 2);
  std::vector<float> exact, with_bias, fast, quick;
  for (int i = 0; i < 10; ++i) {
    const double v = ValuesOf(x)[i], s = v + ValuesOf(bias)[i % 5];
    auto gelu = [](double z) {
      return 0.5 * z * (1 + std::erf(z / std::sqrt(2.0)));
    };
    exact.push_back(static_cast<float>(gelu(v)));
    with_bias.push_back(static_cast<float>(gelu(s)));
    fast.push_back(static_cast<float>(
        0.5 * s *
        (1 + std::tanh(std::sqrt(2 / M_PI) * (s + 0.044715 * s * s * s)))));
    quick.push_back(static_cast<float>(v / (1 + std::exp(-1.702 * v))));
  }
  ExpectNear(RunFloats(Microsoft("Gelu"), {x}), exact);
  ExpectNear(RunFloats(Microsoft("BiasGelu"), {x, bias}), with_bias);
  ExpectNear(RunFloats(Microsoft("FastGelu"), {x, bias}), fast);
  ExpectNear(RunFloats(Microsoft("QuickGelu"), {x}), quick);
}

TEST(MicrosoftTest, FusedMatMulTransposes) {
  // a is [k, b, m] with its rows before the batch, b is [b, n, k].
  const Tensor a = RandomFloats({3, 2, 4}, 3), b = RandomFloats({2, 5, 3}, 4);
  std::vector<float> expected;
  for (int batch = 0; batch < 2; ++batch) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 5; ++j) {
        double sum = 0;
        for (int r = 0; r < 3; ++r) {
          sum += double{ValuesOf(a)[(r * 2 + batch) * 4 + i]} *
                 ValuesOf(b)[(batch * 5 + j) * 3 + r];
        }
        expected.push_back(static_cast<float>(0.5 * sum));
      }
    }
  }
  const Operator op = Microsoft("FusedMatMul", [](onnx::NodeProto* n) {
    SetFloat(n, "alpha", 0.5f);
    SetInt(n, "transA", 1);
    SetInt(n, "transBatchA", 1);
    SetInt(n, "transB", 1);
  });
  ExpectNear(RunFloats(op, {a, b}), expected);
}

TEST(MicrosoftTest, FusedConvAndGemm) {
  const Tensor x = Floats({1, 1, 1, 4}, {1, 2, 3, 4});
  const Tensor w = Floats({1, 1, 1, 2}, {1, -1});
  const Tensor bias = Floats({1}, {0.5f});
  const Tensor z = Floats({1, 1, 1, 3}, {0, 1, 2});
  // 1 - 2 + 0.5 + z and so on.
  ExpectNear(RunFloats(Microsoft("FusedConv",
                                 [](onnx::NodeProto* n) {
                                   SetString(n, "activation", "Relu");
                                 }),
                       {x, w, bias, z}),
             {0, 0.5f, 1.5f});
  const Operator leaky = Microsoft("FusedConv", [](onnx::NodeProto* n) {
    SetString(n, "activation", "LeakyRelu");
    auto* a = n->add_attribute();
    a->set_name("activation_params");
    a->set_type(onnx::AttributeProto::FLOATS);
    a->add_floats(0.25f);
  });
  ExpectNear(RunFloats(leaky, {x, w, bias}), {-0.125f, -0.125f, -0.125f});
  EXPECT_TRUE(absl::IsUnimplemented(
      RunOperator(Microsoft("FusedConv",
                            [](onnx::NodeProto* n) {
                              SetString(n, "activation", "Nonsense");
                            }),
                  {x, w})
          .status()));
  const Tensor a = RandomFloats({2, 3}, 5), b = RandomFloats({3, 2}, 6);
  std::vector<float> product = Product(ValuesOf(a), ValuesOf(b), 2, 3, 2);
  for (float& v : product) v = std::tanh(v);
  ExpectNear(RunFloats(Microsoft("FusedGemm",
                                 [](onnx::NodeProto* n) {
                                   SetString(n, "activation", "Tanh");
                                 }),
                       {a, b}),
             product);
}

TEST(MicrosoftTest, BiasSoftmax) {
  const Tensor x = RandomFloats({2, 3}, 7), bias = RandomFloats({1, 3}, 8);
  std::vector<float> expected;
  for (int i = 0; i < 2; ++i) {
    double sum = 0;
    for (int j = 0; j < 3; ++j) {
      sum += std::exp(ValuesOf(x)[i * 3 + j] + ValuesOf(bias)[j]);
    }
    for (int j = 0; j < 3; ++j) {
      expected.push_back(static_cast<float>(
          std::exp(ValuesOf(x)[i * 3 + j] + ValuesOf(bias)[j]) / sum));
    }
  }
  const Operator op = Microsoft("BiasSoftmax", [](onnx::NodeProto* n) {
    SetInt(n, "axis", 1);
    SetInt(n, "is_inner_broadcast", 1);
  });
  ExpectNear(RunFloats(op, {x, bias}), expected);
}

// Numbers of so many bits, the first in the low bits of a byte.
std::vector<uint8_t> Packed(const std::vector<int>& numbers, int bits) {
  std::vector<uint8_t> bytes((numbers.size() * bits + 7) / 8);
  for (size_t i = 0; i < numbers.size(); ++i) {
    bytes[i * bits / 8] |= static_cast<uint8_t>(numbers[i] << i * bits % 8);
  }
  return bytes;
}

void Append(const std::vector<uint8_t>& more, std::vector<uint8_t>* bytes) {
  bytes->insert(bytes->end(), more.begin(), more.end());
}

// Weights in blocks of 16, two of them, the second with four of padding; with
// zero points, packed as well, row by row, and without.
TEST(MicrosoftTest, MatMulNBits) {
  constexpr int kN = 3, kK = 28, kBlock = 16, kBlocks = 2;
  for (int bits : {2, 4, 8}) {
    const int most = (1 << bits) - 1;
    std::vector<uint8_t> packed, packed_points;
    std::vector<float> scales, w(kK * kN), centred(kK * kN);
    for (int n = 0; n < kN; ++n) {
      std::vector<int> numbers;
      const std::vector<int> points = {(7 + n) & most, (3 + n) & most};
      for (int block = 0; block < kBlocks; ++block) {
        scales.push_back(0.25f * static_cast<float>(1 + n + block));
        for (int i = 0; i < kBlock; ++i) {
          const int depth = block * kBlock + i;
          numbers.push_back((n * 5 + block * 3 + i * 7) & most);
          if (depth >= kK) continue;
          w[depth * kN + n] =
              static_cast<float>(numbers.back() - points[block]) *
              scales.back();
          centred[depth * kN + n] =
              static_cast<float>(numbers.back() - (1 << (bits - 1))) *
              scales.back();
        }
      }
      Append(Packed(numbers, bits), &packed);
      Append(Packed(points, bits), &packed_points);
    }
    const Tensor x = RandomFloats({2, kK}, 9);
    // Data may be as it is where it may be rounded to bytes, too.
    const int accuracy = bits == 4 ? 4 : 1;
    const Operator op = Microsoft("MatMulNBits", [=](onnx::NodeProto* n) {
      SetInt(n, "accuracy_level", accuracy);
      SetInt(n, "N", kN);
      SetInt(n, "K", kK);
      SetInt(n, "bits", bits);
      SetInt(n, "block_size", kBlock);
    });
    const Operand weights =
        Constant(Bytes({kN, kBlocks, kBlock * bits / 8}, packed));
    const Operand scale = Constant(Floats({kN * kBlocks}, scales));
    const int64_t size = static_cast<int64_t>(packed_points.size());
    ExpectNear(RunFloats(op, {x, weights, scale,
                              Constant(Bytes({size}, packed_points))}),
               Product(ValuesOf(x), w, 2, kK, kN), 1e-4f);
    ExpectNear(RunFloats(op, {x, weights, scale}),
               Product(ValuesOf(x), centred, 2, kK, kN), 1e-4f);
  }
}

// rows of x, each with its mean and deviation taken off.
std::vector<float> LayerNorm(const std::vector<float>& x, int width,
                             const std::vector<float>& gamma,
                             const std::vector<float>& beta, double epsilon) {
  std::vector<float> y;
  for (size_t row = 0; row < x.size(); row += width) {
    double mean = 0, square = 0;
    for (int i = 0; i < width; ++i) mean += x[row + i] / double(width);
    for (int i = 0; i < width; ++i) {
      square += (x[row + i] - mean) * (x[row + i] - mean) / width;
    }
    for (int i = 0; i < width; ++i) {
      y.push_back(static_cast<float>(
          (x[row + i] - mean) / std::sqrt(square + epsilon) * gamma[i] +
          beta[i]));
    }
  }
  return y;
}

TEST(MicrosoftTest, SkipLayerNormalization) {
  const Tensor x = RandomFloats({1, 2, 4}, 10),
               skip = RandomFloats({1, 2, 4}, 11);
  const Tensor gamma = RandomFloats({4}, 12), beta = RandomFloats({4}, 13);
  const Tensor bias = RandomFloats({4}, 14);
  std::vector<float> sum = ValuesOf(x);
  for (int i = 0; i < 8; ++i) {
    sum[i] += ValuesOf(skip)[i] + ValuesOf(bias)[i % 4];
  }
  const std::vector<Operand> operands = {x, skip, gamma, beta, bias};
  absl::StatusOr<std::vector<Tensor>> out =
      RunOperator(Microsoft(
                      "SkipLayerNormalization",
                      [](onnx::NodeProto* n) {
                        SetFloat(n, "epsilon", 1e-3f);
                        n->set_output(1, "");
                        n->set_output(2, "");
                      },
                      4),
                  operands);
  ASSERT_TRUE(out.ok()) << out.status();
  ASSERT_EQ(out->size(), 2u);
  ExpectNear(ValuesOf((*out)[0]),
             LayerNorm(sum, 4, ValuesOf(gamma), ValuesOf(beta), 1e-3));
  ExpectNear(ValuesOf((*out)[1]), sum);
  EXPECT_TRUE(absl::IsUnimplemented(
      RunOperator(Microsoft("SkipLayerNormalization", nullptr, 2), operands)
          .status()));
}

TEST(MicrosoftTest, SimplifiedLayerNormalizations) {
  const Tensor x = RandomFloats({2, 3}, 15), skip = RandomFloats({2, 3}, 16);
  const Tensor gamma = RandomFloats({3}, 17);
  auto expected = [&](bool with_skip) {
    std::vector<float> y;
    for (int row = 0; row < 2; ++row) {
      double square = 0;
      std::vector<double> v;
      for (int i = 0; i < 3; ++i) {
        v.push_back(ValuesOf(x)[row * 3 + i] +
                    (with_skip ? ValuesOf(skip)[row * 3 + i] : 0));
        square += v.back() * v.back() / 3;
      }
      for (int i = 0; i < 3; ++i) {
        y.push_back(static_cast<float>(v[i] / std::sqrt(square + 1e-2) *
                                       ValuesOf(gamma)[i]));
      }
    }
    return y;
  };
  auto epsilon = [](onnx::NodeProto* n) { SetFloat(n, "epsilon", 1e-2f); };
  const Operator own{"SimplifiedLayerNormalization", "", 17, epsilon};
  ExpectNear(RunFloats(own, {x, gamma}), expected(false));
  ExpectNear(RunFloats(Microsoft("SkipSimplifiedLayerNormalization", epsilon),
                       {x, skip, gamma}),
             expected(true));
}

// As small as ONNX Runtime's, for both: of small numbers it decides.
TEST(MicrosoftTest, EpsilonOfSkipNormsThatIsLeftOut) {
  const Tensor x = Floats({1, 2}, {1e-5f, -1e-5f}),
               skip = Floats({1, 2}, {0, 0});
  const Tensor gamma = Floats({2}, {1, 1});
  const float expected = static_cast<float>(1e-5 / std::sqrt(1e-10 + 1e-12));
  for (const char* op :
       {"SkipSimplifiedLayerNormalization", "SkipLayerNormalization"}) {
    ExpectNear(RunFloats(Microsoft(op, nullptr), {x, skip, gamma}),
               {expected, -expected});
  }
}

TEST(MicrosoftTest, EmbedLayerNormalization) {
  const Tensor words = RandomFloats({5, 4}, 18),
               places = RandomFloats({3, 4}, 19);
  const Tensor segments = RandomFloats({2, 4}, 20);
  const Tensor gamma = RandomFloats({4}, 21), beta = RandomFloats({4}, 22);
  auto ints = [](const std::vector<int32_t>& v) {
    return MakeTestTensor<int32_t>(DataType::Int(32), {1, 2}, v);
  };
  const std::vector<int32_t> ids = {4, 1}, segment = {0, 1};
  std::vector<float> sum;
  for (int s = 0; s < 2; ++s) {
    for (int i = 0; i < 4; ++i) {
      sum.push_back(ValuesOf(words)[ids[s] * 4 + i] +
                    ValuesOf(places)[s * 4 + i] +
                    ValuesOf(segments)[segment[s] * 4 + i]);
    }
  }
  absl::StatusOr<std::vector<Tensor>> out =
      RunOperator(Microsoft("EmbedLayerNormalization", nullptr, 2),
                  {ints(ids), ints(segment), words, places, segments, gamma,
                   beta, ints({1, 0})});
  ASSERT_TRUE(out.ok()) << out.status();
  ExpectNear(ValuesOf((*out)[0]),
             LayerNorm(sum, 4, ValuesOf(gamma), ValuesOf(beta), 1e-12));
  EXPECT_THAT((*out)[1].values<int32_t>(), ElementsAre(1));
}

// Bytes of the operand; of scale s and zero point z, v stands for s * (v - z).
TEST(MicrosoftTest, QuantisedEmbedLayerNormalization) {
  auto bytes = [](const std::vector<int64_t>& shape,
                  const std::vector<uint8_t>& v) {
    return MakeTestTensor<uint8_t>(DataType::UInt(8), shape, v);
  };
  const Tensor ids = MakeTestTensor<int32_t>(DataType::Int(32), {1, 2}, {2, 0});
  const std::vector<float> sum = {
      0.5f * (4 - 1) + 0.25f * (1 - 2), 0.5f * (9 - 1) + 0.25f * (5 - 2),
      0.5f * (0 - 1) + 0.25f * (7 - 2), 0.5f * (3 - 1) + 0.25f * (2 - 2)};
  auto number = [](float v) { return Floats({}, {v}); };
  auto point = [&](uint8_t v) { return bytes({}, {v}); };
  ExpectNear(
      RunFloats(Microsoft("QEmbedLayerNormalization"),
                {ids, LeftOut(), bytes({3, 2}, {0, 3, 8, 8, 4, 9}),
                 bytes({2, 2}, {1, 5, 7, 2}), LeftOut(), bytes({2}, {3, 1}),
                 bytes({2}, {2, 6}), LeftOut(), number(0.5f), number(0.25f),
                 LeftOut(), number(2), number(0.125f), point(1), point(2),
                 LeftOut(), point(0), point(4)}),
      LayerNorm(sum, 2, {6, 2}, {-0.25f, 0.25f}, 1e-12));
}

TEST(MicrosoftTest, DistancesOfRows) {
  const Tensor a = Floats({2, 2}, {0, 0, 1000, 1}),
               b = Floats({3, 2}, {3, 4, 1000, 1, 1000, 1.0625f});
  ExpectNear(RunFloats(Microsoft("CDist"), {a, b}),
             {25, 1000001, 1000001.12890625f, 994018, 0, 0.00390625f});
  const Operator root = Microsoft(
      "CDist", [](onnx::NodeProto* n) { SetString(n, "metric", "euclidean"); });
  ExpectNear(RunFloats(root, {Floats({1, 2}, {0, 0}), b}),
             {5, static_cast<float>(std::sqrt(1000001.0)),
              static_cast<float>(std::sqrt(1000001.12890625))});
}

// ------------------------------------------------------------------- quantised

float Dequantize(int v, float scale, int point) {
  return static_cast<float>(v - point) * scale;
}

std::vector<uint8_t> Quantize(const std::vector<float>& v, float scale,
                              int point) {
  std::vector<uint8_t> q;
  for (float x : v) {
    const float r = std::nearbyint(x / scale) + static_cast<float>(point);
    q.push_back(static_cast<uint8_t>(std::clamp(r, 0.0f, 255.0f)));
  }
  return q;
}

// The first output of u8.
std::vector<uint8_t> RunBytes(const Operator& op,
                              const std::vector<Operand>& operands) {
  absl::StatusOr<std::vector<Tensor>> out = RunOperator(op, operands);
  if (!out.ok()) {
    ADD_FAILURE() << op.op << ": " << out.status();
    return {};
  }
  auto v = (*out)[0].values<uint8_t>();
  return {v.begin(), v.end()};
}

Tensor Scalar(float v) { return Floats({}, {v}); }
Tensor Point(uint8_t v) { return Bytes({}, {v}); }

TEST(MicrosoftQuantizeTest, ElementByElement) {
  const std::vector<uint8_t> a = {0, 17, 128, 200, 255, 90};
  const std::vector<uint8_t> b = {3, 250, 128, 64, 10, 77};
  const Tensor ta = Bytes({2, 3}, a), tb = Bytes({2, 3}, b);
  std::vector<float> sum, product, leaky, sigmoid;
  for (size_t i = 0; i < a.size(); ++i) {
    const float x = Dequantize(a[i], 0.0625f, 128);
    const float y = Dequantize(b[i], 0.03125f, 100);
    sum.push_back(x + y);
    product.push_back(x * y);
    leaky.push_back(x < 0 ? 0.125f * x : x);
    sigmoid.push_back(1 / (1 + std::exp(-x)));
  }
  const std::vector<Operand> two = {
      ta,         Scalar(0.0625f), Point(128), tb, Scalar(0.03125f),
      Point(100), Scalar(0.05f),   Point(120)};
  EXPECT_EQ(RunBytes(Microsoft("QLinearAdd"), two), Quantize(sum, 0.05f, 120));
  EXPECT_EQ(RunBytes(Microsoft("QLinearMul"), two),
            Quantize(product, 0.05f, 120));
  const std::vector<Operand> one = {ta, Scalar(0.0625f), Point(128),
                                    Scalar(0.03f), Point(5)};
  EXPECT_EQ(RunBytes(Microsoft("QLinearLeakyRelu",
                               [](onnx::NodeProto* n) {
                                 SetFloat(n, "alpha", 0.125f);
                               }),
                     one),
            Quantize(leaky, 0.03f, 5));
  EXPECT_EQ(RunBytes(Microsoft("QLinearSigmoid"), one),
            Quantize(sigmoid, 0.03f, 5));
}

TEST(MicrosoftQuantizeTest, ZeroPointsMayBeLeftOut) {
  const Tensor a = Bytes({2}, {10, 20}), b = Bytes({2}, {1, 2});
  EXPECT_EQ(
      RunBytes(Microsoft("QLinearAdd"), {a, Scalar(1), LeftOut(), b, Scalar(2),
                                         LeftOut(), Scalar(0.5f)}),
      (std::vector<uint8_t>{24, 48}));
}

TEST(MicrosoftQuantizeTest, PoolsAndConcat) {
  // [1, 2, 2, 2], the channels first or last.
  const Tensor x = Bytes({1, 2, 2, 2}, {1, 3, 5, 7, 10, 20, 30, 40});
  const std::vector<Operand> one = {x, Scalar(0.5f), Point(0), Scalar(0.25f),
                                    Point(1)};
  // Means 4 and 25, times 2, plus 1.
  EXPECT_EQ(RunBytes(Microsoft("QLinearGlobalAveragePool"), one),
            (std::vector<uint8_t>{9, 51}));
  auto last = [](onnx::NodeProto* n) { SetInt(n, "channels_last", 1); };
  // Means of 1 5 10 30 and 3 7 20 40: 11.5 and 17.5.
  EXPECT_EQ(RunBytes(Microsoft("QLinearGlobalAveragePool", last), one),
            (std::vector<uint8_t>{24, 36}));
  auto window = [](onnx::NodeProto* n) { SetInts(n, "kernel_shape", {1, 2}); };
  EXPECT_EQ(RunBytes(Microsoft("QLinearAveragePool", window), one),
            (std::vector<uint8_t>{5, 13, 31, 71}));
  auto last_window = [](onnx::NodeProto* n) {
    SetInts(n, "kernel_shape", {1, 2});
    SetInt(n, "channels_last", 1);
  };
  // Rows (1, 3) (5, 7) and (10, 20) (30, 40), pooled along the columns.
  EXPECT_EQ(RunBytes(Microsoft("QLinearAveragePool", last_window), one),
            (std::vector<uint8_t>{7, 11, 41, 61}));
  EXPECT_EQ(RunBytes(Microsoft("NhwcMaxPool", window), {x}),
            (std::vector<uint8_t>{5, 7, 30, 40}));
  EXPECT_EQ(RunBytes(Microsoft("NhwcMaxPool", window), {Symbolic(x)}),
            (std::vector<uint8_t>{5, 7, 30, 40}));
  auto axis = [](onnx::NodeProto* n) { SetInt(n, "axis", -1); };
  EXPECT_EQ(RunBytes(Microsoft("QLinearConcat", axis),
                     {Scalar(0.5f), Point(10), Bytes({1, 2}, {4, 6}), Scalar(1),
                      Point(2), Bytes({1, 1}, {8}), Scalar(0.25f), Point(4)}),
            (std::vector<uint8_t>{14, 18, 12}));
}

TEST(MicrosoftQuantizeTest, WhereAndSoftmax) {
  Tensor condition = *Tensor::Empty(DataType::Bool(), {2});
  condition.mutable_data<bool>()[0] = true;
  condition.mutable_data<bool>()[1] = false;
  EXPECT_EQ(RunBytes(Microsoft("QLinearWhere"),
                     {condition, Bytes({2}, {10, 20}), Scalar(1), Point(0),
                      Bytes({2}, {30, 40}), Scalar(2), Point(10), Scalar(0.5f),
                      Point(1)}),
            (std::vector<uint8_t>{21, 121}));
  // Equal elements: a half each.
  EXPECT_EQ(RunBytes(Microsoft("QLinearSoftmax"),
                     {Bytes({1, 2}, {7, 7}), Scalar(0.1f), Point(0),
                      Scalar(1.0f / 256), Point(0)}),
            (std::vector<uint8_t>{128, 128}));
}

TEST(MicrosoftQuantizeTest, Products) {
  const Tensor a = Bytes({2, 3}, {1, 2, 3, 40, 50, 60});
  const Tensor b = SignedBytes({3, 2}, {1, -1, 2, -2, 3, 4});
  const Tensor b_scale = Floats({2}, {0.5f, 0.25f});
  const Tensor bias = Floats({2}, {1, -1});
  // (a - 2) b: [-1 0 1] and [38 48 58].
  const std::vector<float> products = {2, 5, 308, 98};
  std::vector<float> expected;
  for (int i = 0; i < 4; ++i) {
    expected.push_back(products[i] * 0.125f * (i % 2 == 0 ? 0.5f : 0.25f) +
                       (i % 2 == 0 ? 1.0f : -1.0f));
  }
  ExpectNear(
      RunFloats(Microsoft("MatMulIntegerToFloat"),
                {a, b, Scalar(0.125f), b_scale, Point(2), LeftOut(), bias}),
      expected);

  // 0 and 255 are the ends of the range: scale 1, zero point 0.
  const Tensor x = Floats({1, 3}, {0, 255, 10.4f});
  ExpectNear(RunFloats(Microsoft("DynamicQuantizeMatMul"),
                       {x, b, b_scale, LeftOut(), bias}),
             {(255 * 2 + 10 * 3) * 0.5f + 1, (255 * -2 + 10 * 4) * 0.25f - 1});
}

}  // namespace
}  // namespace ingot::onnx_frontend
