// Support vector machines.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/ml/pairwise.h"
#include "compiler/frontends/onnx/ml/rows.h"
#include "compiler/frontends/onnx/ml/scores.h"

namespace ingot::onnx_frontend {
namespace {

// Vectors [count, features], row after row.
struct Vectors {
  std::vector<double> numbers;
  int64_t count = 0;
  int64_t features = 0;
};

absl::StatusOr<Vectors> ReadVectors(NodeContext& c, absl::string_view name,
                                    int64_t count) {
  Vectors vectors{c.Floats(name), count, 0};
  const int64_t size = static_cast<int64_t>(vectors.numbers.size());
  if (size == 0 || count < 1 || size % count != 0) {
    return c.Error("'", name, "' has ", size, " numbers for ", count,
                   " vectors");
  }
  vectors.features = size / count;
  return vectors;
}

// The products of rows x and the vectors: [rows, vectors].
Value Products(Compose& k, Value x, const Vectors& v) {
  return k.Call("dense", {x, Numbers(k, v.numbers, {v.count, v.features})});
}

// exp(-gamma |x - v|^2) of each row x and each vector v.
Value RadialKernel(Compose& k, Value x, const Vectors& v, double gamma) {
  if (!k.ok()) return Value{};
  std::vector<double> across(v.numbers.size());
  for (int64_t i = 0; i < v.count; ++i) {
    for (int64_t f = 0; f < v.features; ++f) {
      across[f * v.count + i] = v.numbers[i * v.features + f];
    }
  }
  Shape shape = ShapeOf(x);
  shape.push_back(tir::MakeInt(1));
  const Value apart =
      k.Sub(k.Reshape(x, shape), Numbers(k, across, {v.features, v.count}));
  const Value distance = k.Reduce("reduce_sum_square", apart, {1},
                                  /*keepdims=*/false);
  return k.Call("exp", {k.Mul(distance, -gamma)});
}

// The kernel's values of rows x and the vectors: [rows, vectors].
absl::StatusOr<Value> KernelOf(Compose& k, Value x, const Vectors& v) {
  NodeContext& c = k.context();
  const std::string type = c.String("kernel_type", "LINEAR");
  std::vector<double> params = c.Floats("kernel_params");
  if (params.empty()) params.assign(3, 0);
  if (params.size() != 3) {
    return c.Error("kernel_params has ", params.size(),
                   " numbers, not gamma, coef0 and degree");
  }
  const double gamma = params[0], coef0 = params[1], degree = params[2];
  if (type == "LINEAR") return Products(k, x, v);
  if (type == "RBF") return RadialKernel(k, x, v, gamma);
  const Value dot = k.Add(k.Mul(Products(k, x, v), gamma), coef0);
  if (type == "POLY") return k.Call("pow", {dot, k.Like(dot, degree)});
  if (type == "SIGMOID") return k.Call("tanh", {dot});
  return c.Error("there is no kernel_type '", type, "'");
}

// Operand 0 as rows of as many features as the vectors have.
absl::StatusOr<Value> RowsFor(Compose& k, const Vectors& v) {
  const Value x = FixColumns(k, Rows(k), v.features);
  INGOT_RETURN_IF_ERROR(k.status());
  return x;
}

absl::Status SvmRegressor(NodeContext& c) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(const Transform transform, ReadTransform(c));
  const int64_t supports = c.Int("n_supports", 0);
  INGOT_ASSIGN_OR_RETURN(Vectors weights, ReadVectors(c, "coefficients", 1));
  const std::vector<double> rho = c.Floats("rho");
  if (rho.empty()) return c.Error("has no rho");
  Value y;
  if (supports > 0) {
    INGOT_ASSIGN_OR_RETURN(const Vectors vectors,
                           ReadVectors(c, "support_vectors", supports));
    if (weights.features != supports) {
      return c.Error("has ", weights.features, " coefficients for ", supports,
                     " support vectors");
    }
    INGOT_ASSIGN_OR_RETURN(const Value x, RowsFor(k, vectors));
    INGOT_ASSIGN_OR_RETURN(y, KernelOf(k, x, vectors));
  } else {
    INGOT_ASSIGN_OR_RETURN(y, RowsFor(k, weights));
  }
  y = k.Add(Products(k, y, weights), rho[0]);
  if (c.Int("one_class", 0) != 0) {
    y = k.Call("where", {k.Call("greater", {y, k.Like(y, 0)}), k.Like(y, 1),
                         k.Like(y, -1)});
  }
  c.SetOutput(0, TransformScores(k, y, transform));
  return k.status();
}

// Classes told apart by one product with x for each.
absl::Status ClassifyByProducts(Compose& k, const ClassLabels& labels,
                                Transform transform) {
  NodeContext& c = k.context();
  INGOT_ASSIGN_OR_RETURN(const Vectors weights,
                         ReadVectors(c, "coefficients", labels.count()));
  const std::vector<double> rho = c.Floats("rho");
  if (rho.empty()) return c.Error("has no rho");
  INGOT_ASSIGN_OR_RETURN(const Value x, RowsFor(k, weights));
  const Value scores = k.Add(Products(k, x, weights), rho[0]);
  Value place = LargestOf(k, scores);
  if (labels.count() == 2 && !c.has_attr("prob_a")) {
    // The second of two classes wins as soon as a score is large enough, in
    // ONNX's reference as in ONNX Runtime.
    const bool positive =
        std::all_of(weights.numbers.begin(), weights.numbers.end(),
                    [](double w) { return w >= 0; });
    const Value most = k.Reduce("reduce_max", scores, {1}, /*keepdims=*/false);
    const Value wins = k.Call(positive ? "greater_equal" : "greater",
                              {most, k.Like(most, positive ? 0.5 : 0)});
    place = k.Call("where", {wins, k.Like(place, 1), place});
  }
  c.SetOutput(1, TransformScores(k, scores, transform));
  return SetLabels(k, labels, place);
}

// The weights of the vectors, which lie class after class, in the decision
// between each two classes: [pairs, vectors]. `coefficients` is [classes - 1,
// vectors]: a vector's for each other class.
Vectors PairWeights(const std::vector<double>& coefficients,
                    const std::vector<int64_t>& per_class) {
  const int64_t classes = static_cast<int64_t>(per_class.size());
  const int64_t count =
      std::accumulate(per_class.begin(), per_class.end(), int64_t{0});
  Vectors weights{{}, classes * (classes - 1) / 2, count};
  weights.numbers.assign(weights.count * count, 0);
  double* row = weights.numbers.data();
  int64_t first = 0;
  for (int64_t i = 0; i < classes; first += per_class[i++]) {
    int64_t second = first + per_class[i];
    for (int64_t j = i + 1; j < classes; second += per_class[j++]) {
      for (int64_t v = first; v < first + per_class[i]; ++v) {
        row[v] = coefficients[(j - 1) * count + v];
      }
      for (int64_t v = second; v < second + per_class[j]; ++v) {
        row[v] = coefficients[i * count + v];
      }
      row += count;
    }
  }
  return weights;
}

absl::Status CheckPairs(NodeContext& c, const std::vector<int64_t>& per_class,
                        int64_t classes, int64_t vectors) {
  constexpr int64_t kMostWeights = int64_t{1} << 24;
  const int64_t pairs = classes * (classes - 1) / 2;
  if (classes < 2 || static_cast<int64_t>(per_class.size()) != classes) {
    return c.Error("has vectors of ", per_class.size(), " classes, and ",
                   classes, " labels");
  }
  if (pairs > kMostWeights / vectors) {
    return c.NotSupported(classes, " classes of ", vectors, " vectors");
  }
  const int64_t rho = static_cast<int64_t>(c.Floats("rho").size());
  const int64_t coefficients =
      static_cast<int64_t>(c.Floats("coefficients").size());
  if (rho != pairs || coefficients != (classes - 1) * vectors) {
    return c.Error("has ", rho, " rho and ", coefficients, " coefficients for ",
                   classes, " classes of ", vectors, " vectors");
  }
  for (const char* name : {"prob_a", "prob_b"}) {
    const int64_t size = static_cast<int64_t>(c.Floats(name).size());
    if (size != 0 && size != pairs) {
      return c.Error("'", name, "' has ", size, " numbers for ", pairs,
                     " pairs of classes");
    }
  }
  if (c.Floats("prob_a").size() != c.Floats("prob_b").size()) {
    return c.Error("prob_a and prob_b differ in length");
  }
  return absl::OkStatus();
}

absl::Status SvmClassifier(NodeContext& c) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(const Transform transform, ReadTransform(c));
  INGOT_ASSIGN_OR_RETURN(const ClassLabels labels,
                         ReadLabels(c, "classlabels_ints"));
  const std::vector<int64_t> per_class = c.Ints("vectors_per_class");
  constexpr int64_t kMostVectors = int64_t{1} << 40;
  int64_t count = 0;
  for (int64_t n : per_class) {
    if (n < 0 || n > kMostVectors - count) {
      return c.Error("vectors_per_class has ", n);
    }
    count += n;
  }
  if (count == 0) return ClassifyByProducts(k, labels, transform);
  INGOT_ASSIGN_OR_RETURN(const Vectors vectors,
                         ReadVectors(c, "support_vectors", count));
  const int64_t classes = labels.count();
  INGOT_RETURN_IF_ERROR(CheckPairs(c, per_class, classes, count));
  INGOT_ASSIGN_OR_RETURN(const Value x, RowsFor(k, vectors));
  INGOT_ASSIGN_OR_RETURN(const Value near, KernelOf(k, x, vectors));
  const Vectors weights = PairWeights(c.Floats("coefficients"), per_class);
  const Value decisions = k.Add(Products(k, near, weights),
                                Numbers(k, c.Floats("rho"), {weights.count}));
  const std::vector<double> prob_a = c.Floats("prob_a");
  if (!prob_a.empty()) {
    const Value certainties =
        k.Add(k.Mul(decisions, Numbers(k, prob_a, {weights.count})),
              Numbers(k, c.Floats("prob_b"), {weights.count}));
    INGOT_ASSIGN_OR_RETURN(const Value shares,
                           CoupleShares(k, certainties, classes));
    c.SetOutput(1, TransformScores(k, shares, transform));
  } else if (classes == 2) {
    c.SetOutput(
        1, ScoresOfTwo(k, decisions, transform != Transform::kNone, transform));
  } else {
    c.SetOutput(1, TransformScores(k, decisions, transform));
  }
  return SetLabels(k, labels, LargestOf(k, CountVotes(k, decisions, classes)));
}

}  // namespace

void AddSvmConverters(ConverterTable* t) {
  t->Add("SVMClassifier", 1, &SvmClassifier, kMlDomain);
  t->Add("SVMRegressor", 1, &SvmRegressor, kMlDomain);
}

}  // namespace ingot::onnx_frontend
