// Layers with a state, against numbers worked out by hand and loops over every
// element.
#include <cmath>
#include <string>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

Operator Causal(const std::string& activation = "none") {
  return {"CausalConvWithState", "", 27,
          [=](onnx::NodeProto* n) { SetString(n, "activation", activation); },
          2};
}

TEST(CausalConvTest, BeginsWithThePastOrZeros) {
  const Tensor x = Floats({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor w = Floats({2, 1, 3}, {1, 10, 100, 0, 0, 1});
  std::vector<Tensor> out = Outputs(Causal(), {x, w});
  ExpectNear(ValuesOf(out[0]), {100, 210, 321, 432, 5, 6, 7, 8});
  ExpectNear(ValuesOf(out[1]), {3, 4, 7, 8});
  out = Outputs(Causal(), {x, w, Floats({2}, {0.5f, -1}),
                           Floats({1, 2, 2}, {7, 8, 9, 9})});
  ExpectNear(ValuesOf(out[0]), {187.5f, 218.5f, 321.5f, 432.5f, 4, 5, 6, 7});
  ExpectNear(ValuesOf(out[1]), {3, 4, 7, 8});
}

// A case of ONNX's: a call that is shorter than the state.
TEST(CausalConvTest, ShortCalls) {
  const std::vector<Tensor> out = Outputs(
      Causal(), {Floats({1, 1, 2}, {1.76405235f, 0.40015721f}),
                 Floats({1, 1, 5}, {1.49407907f, -0.20515826f, 0.3130677f,
                                    -0.85409574f, -2.55298982f})});
  ExpectNear(ValuesOf(out[0]), {-4.50360811f, -2.52826703f}, 1e-4f);
  ExpectNear(ValuesOf(out[1]), {0, 0, 1.76405235f, 0.40015721f});
}

TEST(CausalConvTest, Activations) {
  const Tensor x = Floats({1, 1, 2}, {1, -2}), w = Floats({1, 1, 1}, {1.5f});
  const std::vector<float> expected = {
      static_cast<float>(1.5 / (1 + std::exp(-1.5))),
      static_cast<float>(-3 / (1 + std::exp(3.0)))};
  for (const char* name : {"silu", "swish"}) {
    const std::vector<Tensor> out = Outputs(Causal(name), {x, w});
    ExpectNear(ValuesOf(out[0]), expected);
    EXPECT_EQ(out[1].NumElements(), 0);
  }
  EXPECT_TRUE(
      absl::IsInvalidArgument(RunOperator(Causal("relu"), {x, w}).status()));
}

struct Sizes {
  int batch = 2, steps = 3, q_heads = 2, heads = 2, key = 3, value = 2;
};

struct Result {
  std::vector<double> y, state;
};

// As the specification writes it. Without decays these are 0; without betas
// the change is the value itself.
Result Reference(const Sizes& n, const std::vector<float>& q,
                 const std::vector<float>& k, const std::vector<float>& v,
                 const std::vector<float>& state,
                 const std::vector<float>& decay,
                 const std::vector<float>& beta, double scale) {
  Result r;
  r.state.assign(state.begin(), state.end());
  r.y.resize(n.batch * n.steps * n.q_heads * n.value);
  const int per_head = n.key * n.value;
  for (int b = 0; b < n.batch; ++b) {
    for (int h = 0; h < n.heads; ++h) {
      double* s = &r.state[(b * n.heads + h) * per_head];
      for (int t = 0; t < n.steps; ++t) {
        const int step = b * n.steps + t, at = step * n.heads + h;
        for (int i = 0; i < per_head && !decay.empty(); ++i) {
          const bool by_key = decay.size() == k.size();
          s[i] *=
              std::exp(double{decay[by_key ? at * n.key + i / n.value : at]});
        }
        for (int j = 0; j < n.value; ++j) {
          double change = v[at * n.value + j];
          if (!beta.empty()) {
            for (int i = 0; i < n.key; ++i) {
              change -= s[i * n.value + j] * k[at * n.key + i];
            }
            change *= beta[at];
          }
          for (int i = 0; i < n.key; ++i) {
            s[i * n.value + j] += k[at * n.key + i] * change;
          }
        }
        for (int g = 0; g < n.q_heads / n.heads; ++g) {
          const int to = step * n.q_heads + h * (n.q_heads / n.heads) + g;
          for (int j = 0; j < n.value; ++j) {
            double sum = 0;
            for (int i = 0; i < n.key; ++i) {
              sum += s[i * n.value + j] * q[to * n.key + i];
            }
            r.y[to * n.value + j] = scale * sum;
          }
        }
      }
    }
  }
  return r;
}

std::vector<float> Narrow(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

Operator Linear(const Sizes& n, const std::string& rule, float scale = 0) {
  return {"LinearAttention", "", 27,
          [=](onnx::NodeProto* node) {
            SetInt(node, "q_num_heads", n.q_heads);
            SetInt(node, "kv_num_heads", n.heads);
            SetString(node, "update_rule", rule);
            if (scale != 0) SetFloat(node, "scale", scale);
          },
          2};
}

TEST(LinearAttentionTest, EveryRule) {
  for (const char* rule : {"linear", "gated", "delta", "gated_delta"}) {
    for (const bool grouped : {false, true}) {
      SCOPED_TRACE(std::string(rule) + (grouped ? ", grouped" : ""));
      Sizes n;
      if (grouped) n.q_heads = 6;
      const Tensor q = RandomFloats({n.batch, n.steps, n.q_heads * n.key}, 1);
      const Tensor k = RandomFloats({n.batch, n.steps, n.heads * n.key}, 2);
      const Tensor v = RandomFloats({n.batch, n.steps, n.heads * n.value}, 3);
      const Tensor past = RandomFloats({n.batch, n.heads, n.key, n.value}, 4);
      const Tensor decay = RandomFloats(
          {n.batch, n.steps, grouped ? n.heads : n.heads * n.key}, 5);
      const Tensor beta = RandomFloats({n.batch, n.steps, n.heads}, 6);
      const bool gated = std::string(rule).find("gated") == 0;
      const bool delta = std::string(rule).find("delta") != std::string::npos;
      const Result expected =
          Reference(n, ValuesOf(q), ValuesOf(k), ValuesOf(v), ValuesOf(past),
                    gated ? ValuesOf(decay) : std::vector<float>(),
                    delta ? ValuesOf(beta) : std::vector<float>(), 0.25);
      // One a head, which may show in a run only.
      const auto of_heads = [grouped](const Tensor& t) {
        return grouped ? Symbolic(t) : Operand(t);
      };
      const std::vector<Tensor> out =
          Outputs(Linear(n, rule, 0.25f),
                  {q, k, v, past, gated ? of_heads(decay) : LeftOut(),
                   delta ? of_heads(beta) : LeftOut()});
      ExpectNear(ValuesOf(out[0]), Narrow(expected.y));
      ExpectNear(ValuesOf(out[1]), Narrow(expected.state));
    }
  }
}

TEST(LinearAttentionTest, BeginsWithZeros) {
  const Sizes n;
  const Tensor q = RandomFloats({n.batch, n.steps, n.q_heads * n.key}, 7);
  const Tensor k = RandomFloats({n.batch, n.steps, n.heads * n.key}, 8);
  const Tensor v = RandomFloats({n.batch, n.steps, n.heads * n.value}, 9);
  const Result expected =
      Reference(n, ValuesOf(q), ValuesOf(k), ValuesOf(v),
                std::vector<float>(n.batch * n.heads * n.key * n.value), {}, {},
                1 / std::sqrt(3.0));
  const std::vector<Tensor> out = Outputs(Linear(n, "linear"), {q, k, v});
  ExpectNear(ValuesOf(out[0]), Narrow(expected.y));
  ExpectNear(ValuesOf(out[1]), Narrow(expected.state));
}

// A state has its own type. In f16 1 is 0x3c00 and 2 is 0x4000.
TEST(LinearAttentionTest, StatesKeepTheirType) {
  Sizes n;
  n.batch = n.steps = n.q_heads = n.heads = n.key = n.value = 1;
  const Tensor two =
      MakeTestTensor<uint16_t>(DataType::Float(16), {1, 1, 1}, {0x4000});
  const std::vector<Tensor> out =
      Outputs(Linear(n, "linear"), {two, two, two, Floats({1, 1, 1, 1}, {-3})});
  EXPECT_EQ(out[0].TypeString(), "f16[1, 1, 1]");
  EXPECT_EQ(out[0].values<uint16_t>()[0], 0x4000);  // 2 * (2 * 2 - 3)
  ExpectNear(ValuesOf(out[1]), {1});
}

TEST(LinearAttentionTest, SaysWhatIsMissing) {
  const Sizes n;
  const Tensor x = RandomFloats({2, 3, 6}, 10);
  const absl::Status no_decay =
      RunOperator(Linear(n, "gated"), {x, x, x}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(no_decay));
  EXPECT_THAT(std::string(no_decay.message()),
              testing::HasSubstr("needs a decay"));
  EXPECT_TRUE(absl::IsInvalidArgument(
      RunOperator(Linear(n, "squared"), {x, x, x}).status()));
}

}  // namespace
}  // namespace ingot::onnx_frontend
