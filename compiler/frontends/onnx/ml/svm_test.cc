// Support vector machines against kernels in double precision.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using Node = onnx::NodeProto;
using Fill = std::function<void(Node*)>;

constexpr int64_t kFeatures = 3;
constexpr const char* kKernels[] = {"LINEAR", "RBF", "POLY", "SIGMOID"};

// Numbers of both signs, the same for a seed.
std::vector<float> Random(int64_t count, unsigned seed) {
  return ValuesOf(RandomFloats({count}, seed));
}

struct Machine {
  std::string kernel = "RBF";
  std::vector<float> params = {0.3f, 0.2f, 3};
  std::vector<int64_t> per_class = {3, 2, 4};
  std::vector<float> vectors, coefficients, rho, prob_a, prob_b;
  std::string transform = "NONE";

  int64_t classes() const { return static_cast<int64_t>(per_class.size()); }
  int64_t count() const {
    int64_t sum = 0;
    for (int64_t n : per_class) sum += n;
    return sum;
  }
};

Machine MachineOf(std::vector<int64_t> per_class) {
  Machine m;
  m.per_class = std::move(per_class);
  m.vectors = Random(m.count() * kFeatures, 1);
  m.coefficients = Random((m.classes() - 1) * m.count(), 2);
  m.rho = Random(m.classes() * (m.classes() - 1) / 2, 3);
  return m;
}

void SetKernel(Node* n, const Machine& m) {
  SetString(n, "kernel_type", m.kernel);
  SetFloats(n, "kernel_params", m.params);
  SetFloats(n, "support_vectors", m.vectors);
  SetFloats(n, "coefficients", m.coefficients);
  SetFloats(n, "rho", m.rho);
  SetString(n, "post_transform", m.transform);
}

Operator Classifier(const Machine& m) {
  return {"SVMClassifier", "ai.onnx.ml", 1,
          [m](Node* n) {
            SetKernel(n, m);
            SetInts(n, "vectors_per_class", m.per_class);
            SetFloats(n, "prob_a", m.prob_a);
            SetFloats(n, "prob_b", m.prob_b);
            std::vector<int64_t> labels(m.classes());
            for (int64_t i = 0; i < m.classes(); ++i) labels[i] = 10 * i;
            SetInts(n, "classlabels_ints", labels);
          },
          2};
}

double KernelOf(const Machine& m, const float* x, int64_t vector) {
  const float* v = m.vectors.data() + vector * kFeatures;
  double dot = 0, distance = 0;
  for (int64_t f = 0; f < kFeatures; ++f) {
    dot += double{x[f]} * v[f];
    distance += (double{x[f]} - v[f]) * (double{x[f]} - v[f]);
  }
  const double gamma = m.params[0], coef0 = m.params[1];
  if (m.kernel == "LINEAR") return dot;
  if (m.kernel == "RBF") return std::exp(-gamma * distance);
  if (m.kernel == "POLY") return std::pow(gamma * dot + coef0, m.params[2]);
  return std::tanh(gamma * dot + coef0);
}

// The decision between each two classes, in their order, for one row.
std::vector<double> Decisions(const Machine& m, const float* x) {
  std::vector<int64_t> class_of;
  for (int64_t i = 0; i < m.classes(); ++i) {
    class_of.insert(class_of.end(), m.per_class[i], i);
  }
  std::vector<double> decisions;
  for (int64_t i = 0; i < m.classes(); ++i) {
    for (int64_t j = i + 1; j < m.classes(); ++j) {
      double sum = m.rho[decisions.size()];
      for (int64_t v = 0; v < m.count(); ++v) {
        // A vector's rows of coefficients are for the other classes.
        const int64_t row = class_of[v] == i   ? j - 1
                            : class_of[v] == j ? i
                                               : -1;
        if (row < 0) continue;
        sum += m.coefficients[row * m.count() + v] * KernelOf(m, x, v);
      }
      decisions.push_back(sum);
    }
  }
  return decisions;
}

int64_t Winner(const Machine& m, const std::vector<double>& decisions) {
  std::vector<int> votes(m.classes(), 0);
  size_t pair = 0;
  for (int64_t i = 0; i < m.classes(); ++i) {
    for (int64_t j = i + 1; j < m.classes(); ++j) {
      ++votes[decisions[pair++] > 0 ? i : j];
    }
  }
  return std::max_element(votes.begin(), votes.end()) - votes.begin();
}

TEST(SvmClassifierTest, DecidesBetweenPairs) {
  const Tensor x = RandomFloats({7, kFeatures}, 5);
  Machine m = MachineOf({3, 0, 2, 4});
  for (const char* kernel : kKernels) {
    m.kernel = kernel;
    std::vector<float> scores;
    std::vector<int64_t> labels;
    for (int64_t row = 0; row < 7; ++row) {
      const std::vector<double> d =
          Decisions(m, x.data<float>() + row * kFeatures);
      scores.insert(scores.end(), d.begin(), d.end());
      labels.push_back(10 * Winner(m, d));
    }
    for (const Operand& operand : {Operand(x), Symbolic(x)}) {
      const std::vector<Tensor> y = Outputs(Classifier(m), {operand});
      EXPECT_THAT(y[0].values<int64_t>(), ElementsAreArray(labels));
      ExpectNear(ValuesOf(y[1]), scores, 1e-4f);
    }
  }
}

TEST(SvmClassifierTest, TwoClassesHaveTwoScores) {
  const Tensor x = RandomFloats({4, kFeatures}, 6);
  Machine m = MachineOf({2, 3});
  for (const char* transform : {"NONE", "LOGISTIC", "SOFTMAX"}) {
    m.transform = transform;
    std::vector<float> scores;
    for (int64_t row = 0; row < 4; ++row) {
      const double d = Decisions(m, x.data<float>() + row * kFeatures)[0];
      const double p = m.transform == "LOGISTIC" ? 1 / (1 + std::exp(-d)) : d;
      scores.push_back(static_cast<float>(m.transform == "NONE" ? -d : 1 - p));
      scores.push_back(static_cast<float>(p));
    }
    ExpectNear(ValuesOf(Outputs(Classifier(m), {x})[1]), scores, 1e-4f);
  }
}

// The shares p of classes make p Q p least: all of Q p are nearly equal then.
void ExpectCoupled(const Machine& m, const float* x, const float* p) {
  const int64_t n = m.classes();
  const std::vector<double> d = Decisions(m, x);
  std::vector<std::vector<double>> r(n, std::vector<double>(n, 0));
  size_t pair = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j, ++pair) {
      r[i][j] = 1 / (1 + std::exp(d[pair] * m.prob_a[pair] + m.prob_b[pair]));
      r[j][i] = 1 - r[i][j];
    }
  }
  double sum = 0, pqp = 0;
  std::vector<double> qp(n, 0);
  for (int64_t i = 0; i < n; ++i) {
    EXPECT_GT(p[i], 0);
    sum += p[i];
    for (int64_t j = 0; j < n; ++j) {
      if (i != j) qp[i] += r[j][i] * r[j][i] * p[i] - r[j][i] * r[i][j] * p[j];
    }
    pqp += p[i] * qp[i];
  }
  EXPECT_NEAR(sum, 1, 1e-5);
  for (int64_t i = 0; i < n; ++i) {
    EXPECT_LT(std::abs(qp[i] - pqp), 0.0051 / static_cast<double>(n));
  }
}

TEST(SvmClassifierTest, CouplesProbabilities) {
  const Tensor x = RandomFloats({9, kFeatures}, 7);
  for (const std::vector<int64_t>& per_class :
       {std::vector<int64_t>{2, 3}, {3, 2, 4}, {2, 2, 1, 3, 2}}) {
    Machine m = MachineOf(per_class);
    m.prob_a.assign(m.rho.size(), -1.5f);
    m.prob_b.assign(m.rho.size(), 0.1f);
    for (const Operand& operand : {Operand(x), Symbolic(x)}) {
      const Tensor p = Outputs(Classifier(m), {operand})[1];
      ASSERT_EQ(p.shape(), (std::vector<int64_t>{9, m.classes()}));
      for (int64_t row = 0; row < 9; ++row) {
        ExpectCoupled(m, x.data<float>() + row * kFeatures,
                      p.data<float>() + row * m.classes());
      }
    }
    EXPECT_EQ(Outputs(Classifier(m), {Floats({0, kFeatures}, {})})[1].shape(),
              (std::vector<int64_t>{0, m.classes()}));
  }
}

Operator Linear(std::vector<float> coefficients, std::vector<int64_t> labels) {
  return {"SVMClassifier", "ai.onnx.ml", 1,
          [=](Node* n) {
            SetFloats(n, "coefficients", coefficients);
            SetFloats(n, "rho", {0.25f});
            SetInts(n, "classlabels_ints", labels);
          },
          2};
}

TEST(SvmClassifierTest, WithoutVectorsIsLinear) {
  const Tensor x = Floats({3, 1}, {1, 0.5f, -1});
  const std::vector<Tensor> three = Outputs(Linear({1, 0, -1}, {4, 5, 6}), {x});
  EXPECT_THAT(three[0].values<int64_t>(), ElementsAre(4, 4, 6));
  ExpectNear(ValuesOf(three[1]), {1.25f, 0.25f, -0.75f, 0.75f, 0.25f, -0.25f,
                                  -0.75f, 0.25f, 1.25f});
  // The second of two wins where a score is above 0, or 0.5 where no
  // coefficient is negative.
  EXPECT_THAT(Outputs(Linear({1, -1}, {4, 5}), {x})[0].values<int64_t>(),
              ElementsAre(5, 5, 5));
  EXPECT_THAT(Outputs(Linear({2, 1}, {4, 5}), {Floats({2, 1}, {0.1f, 1})})[0]
                  .values<int64_t>(),
              ElementsAre(4, 5));
}

Operator Regressor(const Machine& m, int64_t supports, bool one_class = false) {
  return {"SVMRegressor", "ai.onnx.ml", 1, [=](Node* n) {
            SetKernel(n, m);
            SetInt(n, "n_supports", supports);
            SetInt(n, "one_class", one_class);
          }};
}

TEST(SvmRegressorTest, AddsUpKernels) {
  const Tensor x = RandomFloats({5, kFeatures}, 8);
  Machine m = MachineOf({6});
  m.coefficients = Random(6, 9);
  m.rho = {0.125f};
  for (const char* kernel : kKernels) {
    m.kernel = kernel;
    std::vector<float> expected, signs;
    for (int64_t row = 0; row < 5; ++row) {
      double sum = m.rho[0];
      for (int64_t v = 0; v < 6; ++v) {
        sum += m.coefficients[v] *
               KernelOf(m, x.data<float>() + row * kFeatures, v);
      }
      expected.push_back(static_cast<float>(sum));
      signs.push_back(sum > 0 ? 1 : -1);
    }
    ExpectNear(RunFloats(Regressor(m, 6), {x}), expected, 1e-4f);
    ExpectNear(RunFloats(Regressor(m, 6), {Symbolic(x)}), expected, 1e-4f);
    ExpectNear(RunFloats(Regressor(m, 6, true), {x}), signs);
  }
  m.coefficients = {1, 2, 3};
  m.vectors = {};
  ExpectNear(RunFloats(Regressor(m, 0), {Longs({1, 3}, {1, -1, 2})}), {5.125f});
}

TEST(SvmTest, RefusesWhatDoesNotFit) {
  const Tensor x = RandomFloats({5, kFeatures}, 8);
  auto refused = [&](const std::function<void(Machine*)>& spoil) {
    Machine m = MachineOf({3, 2, 4});
    m.prob_a.assign(3, -1);
    m.prob_b.assign(3, 0);
    spoil(&m);
    return !RunOperator(Classifier(m), {x}).ok();
  };
  EXPECT_FALSE(refused([](Machine*) {}));
  EXPECT_TRUE(refused([](Machine* m) { m->rho.pop_back(); }));
  EXPECT_TRUE(refused([](Machine* m) { m->coefficients.pop_back(); }));
  EXPECT_TRUE(refused([](Machine* m) { m->vectors.pop_back(); }));
  EXPECT_TRUE(refused([](Machine* m) { m->prob_b.pop_back(); }));
  EXPECT_TRUE(refused([](Machine* m) { m->params.pop_back(); }));
  EXPECT_TRUE(refused([](Machine* m) { m->kernel = "COSINE"; }));
  EXPECT_TRUE(refused([](Machine* m) { m->per_class[1] = -2; }));
  EXPECT_TRUE(refused([](Machine* m) { m->per_class[0] = 1LL << 62; }));
  EXPECT_TRUE(refused([](Machine* m) { m->vectors.resize(9 * 2); }));
  Machine m = MachineOf({6});
  m.rho = {0};
  EXPECT_FALSE(RunOperator(Regressor(m, 6), {x}).ok());  // no coefficients
  m.coefficients = Random(5, 9);
  EXPECT_FALSE(RunOperator(Regressor(m, 6), {x}).ok());
}

}  // namespace
}  // namespace ingot::onnx_frontend
