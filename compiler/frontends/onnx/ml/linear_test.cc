// Linear models against sums in double precision.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "compiler/frontends/onnx/testing/text_tensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using testing::ElementsAre;
using Node = onnx::NodeProto;

// Rows of scores.
using Scores = std::vector<std::vector<double>>;

struct Model {
  std::vector<float> coefficients, intercepts;
  std::string transform = "NONE";
};

Scores ScoresOf(const Model& m, const Tensor& x) {
  const size_t targets = m.intercepts.size(), n = x.shape().back();
  Scores scores;
  for (int64_t row = 0; row < x.NumElements(); row += n) {
    scores.emplace_back();
    for (size_t t = 0; t < targets; ++t) {
      double sum = m.intercepts[t];
      for (size_t i = 0; i < n; ++i) {
        sum += double{m.coefficients[t * n + i]} * x.data<float>()[row + i];
      }
      scores.back().push_back(sum);
    }
  }
  return scores;
}

// The quantile of the normal distribution, by halving.
double Quantile(double share) {
  double low = -10, high = 10;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2)) / 2 < share ? low : high) = middle;
  }
  return low;
}

std::vector<float> Transformed(const Scores& scores, const std::string& how) {
  std::vector<float> result;
  for (const std::vector<double>& row : scores) {
    const bool skips_zeros = how == "SOFTMAX_ZERO";
    double sum = 0;
    for (double s : row) sum += skips_zeros && s == 0 ? 0 : std::exp(s);
    for (double s : row) {
      const double y = how == "LOGISTIC"       ? 1 / (1 + std::exp(-s))
                       : how == "PROBIT"       ? Quantile(s)
                       : how == "NONE"         ? s
                       : skips_zeros && s == 0 ? 0
                                               : std::exp(s) / sum;
      result.push_back(static_cast<float>(y));
    }
  }
  return result;
}

std::vector<int64_t> Largest(const Scores& scores) {
  std::vector<int64_t> places;
  for (const std::vector<double>& row : scores) {
    places.push_back(std::max_element(row.begin(), row.end()) - row.begin());
  }
  return places;
}

void SetModel(Node* n, const Model& m) {
  SetFloats(n, "coefficients", m.coefficients);
  SetFloats(n, "intercepts", m.intercepts);
  SetString(n, "post_transform", m.transform);
}

Operator Regressor(const Model& m, int64_t targets) {
  return {"LinearRegressor", "ai.onnx.ml", 1, [=](Node* n) {
            SetModel(n, m);
            SetInt(n, "targets", targets);
          }};
}

Operator Classifier(const Model& m, std::vector<std::string> labels) {
  return {"LinearClassifier", "ai.onnx.ml", 1,
          [=](Node* n) {
            SetModel(n, m);
            SetStrings(n, "classlabels_strings", labels);
          },
          2};
}

constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC",
                                       "SOFTMAX_ZERO"};

TEST(LinearRegressorTest, SumsAndTransforms) {
  const Tensor x = RandomFloats({5, 3}, 1);
  Model m{{0.1f, -0.2f, 0.3f, 0.5f, 0.25f, -0.5f}, {0.5f, -1}};
  for (const char* transform : kTransforms) {
    m.transform = transform;
    const std::vector<float> expected =
        Transformed(ScoresOf(m, x), m.transform);
    ExpectNear(RunFloats(Regressor(m, 2), {x}), expected);
    ExpectNear(RunFloats(Regressor(m, 2), {Symbolic(x)}), expected);
  }
  // A single score stays as it is.
  Model one{{0.1f, -0.2f, 0.3f}, {0.5f}, "LOGISTIC"};
  ExpectNear(RunFloats(Regressor(one, 1), {x}),
             Transformed(ScoresOf(one, x), "NONE"));
  const Tensor row = RandomFloats({3}, 2);
  EXPECT_EQ(Outputs(Regressor(one, 1), {row})[0].TypeString(), "f32[1, 1]");
  ExpectNear(RunFloats(Regressor(one, 1), {row}),
             Transformed(ScoresOf(one, row), "NONE"));
}

TEST(LinearRegressorTest, ProbitIsNearTheQuantile) {
  const Tensor x = Floats({4, 1}, {0.05f, 0.3f, 0.5f, 0.9f});
  const Model m{{1}, {0}, "PROBIT"};
  ExpectNear(RunFloats(Regressor(m, 1), {x}),
             Transformed(ScoresOf(m, x), "PROBIT"), 3e-3f);
}

TEST(LinearRegressorTest, RefusesWhatDoesNotFit) {
  const Tensor x = RandomFloats({5, 3}, 1);
  auto refused = [&](const Model& m, int64_t targets) {
    return !RunOperator(Regressor(m, targets), {x}).ok();
  };
  EXPECT_FALSE(refused({{1, 2, 3}, {0}}, 1));
  EXPECT_FALSE(refused({{1, 2, 3}, {}}, 1));
  EXPECT_TRUE(refused({{1, 2, 3}, {0, 0}}, 1));
  EXPECT_TRUE(refused({{1, 2, 3, 4}, {0}}, 1));
  EXPECT_TRUE(refused({{1, 2, 3}, {0}}, 2));
  EXPECT_TRUE(refused({{1, 2, 3}, {0}}, 0));
  EXPECT_TRUE(refused({{1, 2, 3}, {0}}, -3));
  EXPECT_TRUE(refused({{}, {}}, 1));
  EXPECT_TRUE(refused({{1, 2, 3}, {0}, "COSINE"}, 1));
}

TEST(LinearClassifierTest, OneScoreForEachClass) {
  const Tensor x = RandomFloats({6, 2}, 3);
  Model m{{1, -1, 0.5f, 0.5f, -1, 0}, {0.1f, 0, 0.2f}};
  const std::vector<std::string> labels = {"left", "", "right"};
  for (const char* transform : kTransforms) {
    m.transform = transform;
    const Scores scores = ScoresOf(m, x);
    for (const Operand& operand : {Operand(x), Symbolic(x)}) {
      const std::vector<Tensor> y = Outputs(Classifier(m, labels), {operand});
      const std::vector<std::string> said = StringsOf(y[0]);
      for (size_t row = 0; row < scores.size(); ++row) {
        EXPECT_EQ(said[row], labels[Largest(scores)[row]]) << row;
      }
      ExpectNear(ValuesOf(y[1]), Transformed(scores, m.transform));
    }
  }
}

TEST(LinearClassifierTest, OneScoreForTwoClasses) {
  const Tensor x = Floats({3, 1}, {-1, 0, 2});
  Model m{{0.5f}, {0}};
  auto run = [&] { return Outputs(Classifier(m, {"no", "yes"}), {x}); };
  EXPECT_THAT(StringsOf(run()[0]), ElementsAre("no", "no", "yes"));
  ExpectNear(ValuesOf(run()[1]), {1.5f, -0.5f, 1, 0, 0, 1});
  m.transform = "LOGISTIC";
  const float p = 1 / (1 + std::exp(0.5f)), q = 1 / (1 + std::exp(1.0f));
  ExpectNear(ValuesOf(run()[1]), {1 - p, p, 0.5f, 0.5f, q, 1 - q});
  m.transform = "PROBIT";
  EXPECT_EQ(RunOperator(Classifier(m, {"no", "yes"}), {x}).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(LinearClassifierTest, LabelsThatAreIntegers) {
  const Operator op{"LinearClassifier", "ai.onnx.ml", 1,
                    [](Node* n) {
                      SetModel(n, {{1, -1}, {0, 0}});
                      SetInts(n, "classlabels_ints", {7, -5});
                    },
                    2};
  const Tensor x = Longs({2, 1}, {3, -2});
  EXPECT_THAT(Outputs(op, {x})[0].values<int64_t>(), ElementsAre(7, -5));
  const Model m{{1, -1}, {0, 0}};
  EXPECT_FALSE(RunOperator(Classifier(m, {}), {x}).ok());
  EXPECT_FALSE(RunOperator(Classifier(m, {"a", "b", "c"}), {x}).ok());
}

}  // namespace
}  // namespace ingot::onnx_frontend
