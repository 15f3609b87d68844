// The operators of ai.onnx.ml: features, linear models, support vectors, trees.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

const DataType kF32 = DataType::Float(32);
const DataType kF64 = DataType::Float(64);
const DataType kI32 = DataType::Int(32);
const DataType kI64 = DataType::Int(64);

Call Ml(absl::string_view op, std::vector<std::string> operands) {
  Call call(op, std::move(operands));
  call.domain = "ai.onnx.ml";
  return call;
}

// Quarters between -2 and 2, the attributes of most operators.
std::vector<double> Quarters(Random& r, int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<double>(r.Next(17)) / 4 - 2);
  }
  return values;
}

// first, first + step, ...
Shape CountUp(int64_t count, int64_t first, int64_t step = 1) {
  Shape values;
  for (int64_t i = 0; i < count; ++i) values.push_back(first + i * step);
  return values;
}

// Rows of `columns` features, of one of these types.
std::string Rows(Grower* g, const std::vector<DataType>& types,
                 int64_t columns) {
  const DataType t = g->random().OneOf(types);
  const Shape shape = {1 + g->random().Next(12), columns};
  return t.is_float() ? g->Like(t, shape)
                      : g->New(t, shape, Fill::Whole(-3, 4));
}

void AddFeatures(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int64_t n = 1 + r.Next(9);
  const int64_t count = r.Chance(50) ? n : 1;
  if (op == "Scaler") {
    g->Try(Ml(op, {Rows(g, {kF32, kF64, kI32, kI64}, n)})
               .Floats("offset", Quarters(r, count))
               .Floats("scale", Quarters(r, count)));
  } else if (op == "Normalizer") {
    g->Try(Ml(op, {Rows(g, {kF32, kF64, kI32, kI64}, n)})
               .String("norm", r.OneOf({"MAX", "L1", "L2"})));
  } else if (op == "Imputer") {
    if (r.Chance(50)) {
      g->Try(Ml(op, {g->New(kF32, {1 + r.Next(9), n}, Fill::Whole(-2, 2))})
                 .Floats("imputed_value_floats", Quarters(r, count))
                 .Float("replaced_value_float", 1));
    } else {
      g->Try(Ml(op, {Rows(g, {kI64}, n)})
                 .Ints("imputed_value_int64s", CountUp(count, -1, 5))
                 .Int("replaced_value_int64", 1));
    }
  } else if (op == "Binarizer") {
    g->Try(Ml(op, {Rows(g, {kF32}, n)}).Float("threshold", 0.25));
  } else if (op == "OneHotEncoder") {
    g->Try(Ml(op, {Rows(g, {kF32, kF64, kI64}, n)})
               .Ints("cats_int64s", CountUp(1 + r.Next(6), -1)));
  } else if (op == "LabelEncoder") {
    g->Try(Ml(op, {Rows(g, {kI64}, n)})
               .Ints("keys_int64s", CountUp(count, -1))
               .Ints("values_int64s", CountUp(count, -1, 7)));
  } else if (op == "ArrayFeatureExtractor") {
    const Shape columns = {r.Next(n), r.Next(n), r.Next(n)};
    g->Try(Ml(op, {Rows(g, {kF32, kF64, kI64}, n), g->Parameter(columns)}));
  } else {
    const std::string x = Rows(g, {kF32, kF64, kI64}, n);
    g->Try(Ml(op, {x, g->Like(g->TypeOf(x), {g->ShapeOf(x)[0], 4})})
               .Ints("inputdimensions", {1 + r.Next(10), 1 + r.Next(6)}));
  }
}

std::string Transform(Random& r) {
  return r.OneOf({"NONE", "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"});
}

void AddLinear(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int64_t n = 1 + r.Next(20), scores = 1 + r.Next(5);
  if (op == "LinearRegressor") {
    Call call = Ml(op, {Rows(g, {kF32}, n)});
    call.Floats("coefficients", Quarters(r, n * scores))
        .Int("targets", scores)
        .String("post_transform", Transform(r));
    if (r.Chance(70)) call.Floats("intercepts", Quarters(r, scores));
    g->Try(call);
    return;
  }
  g->Add(Ml(op, {Rows(g, {kF32, kF64, kI32, kI64}, n)})
             .Floats("coefficients", Quarters(r, n * scores))
             .Floats("intercepts", Quarters(r, scores))
             .Ints("classlabels_ints", CountUp(scores == 1 ? 2 : scores, -1, 3))
             .String("post_transform", Transform(r))
             .Results(2));
}

void AddSvm(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int64_t n = 1 + r.Next(8), classes = 2 + r.Next(3);
  Shape per_class;
  int64_t vectors = 0;
  for (int64_t i = 0; i < classes; ++i) {
    per_class.push_back(1 + r.Next(4));
    vectors += per_class.back();
  }
  Call call = Ml(op, {Rows(g, {kF32}, n)});
  call.String("kernel_type", r.OneOf({"LINEAR", "POLY", "RBF", "SIGMOID"}))
      .Floats("kernel_params", {0.25, 0.5, static_cast<double>(r.Next(4))})
      .Floats("support_vectors", Quarters(r, vectors * n));
  if (op == "SVMRegressor") {
    call.Floats("coefficients", Quarters(r, vectors))
        .Floats("rho", Quarters(r, 1))
        .Int("n_supports", vectors)
        .Int("one_class", r.Chance(20));
    g->Try(call);
    return;
  }
  const int64_t pairs = classes * (classes - 1) / 2;
  call.Floats("coefficients", Quarters(r, vectors * (classes - 1)))
      .Floats("rho", Quarters(r, pairs))
      .Ints("vectors_per_class", per_class)
      .Ints("classlabels_ints", CountUp(classes, 1))
      .String("post_transform", r.OneOf({"NONE", "SOFTMAX", "LOGISTIC"}))
      .Results(2);
  if (r.Chance(50)) {
    call.Floats("prob_a", std::vector<double>(pairs, -1.25))
        .Floats("prob_b", Quarters(r, pairs));
  }
  g->Add(call);
}

// The attributes of random trees; `vote` gives the targets of a tree's leaf.
struct Trees {
  Shape trees, ids, features, if_true, if_false, tracks;
  std::vector<std::string> modes;
  std::vector<double> values;
  Shape vote_trees, vote_ids, targets;
  std::vector<double> weights;

  int64_t Grow(Random& r, int64_t tree, int64_t first, int depth, int64_t n,
               const std::vector<std::string>& all_modes,
               const std::function<Shape(int64_t)>& vote) {
    const size_t place = ids.size();
    const int64_t id = static_cast<int64_t>(place) - first;
    const bool is_leaf = depth == 0 || r.Chance(20);
    trees.push_back(tree);
    ids.push_back(id);
    features.push_back(is_leaf ? 0 : r.Next(n));
    tracks.push_back(r.Next(2));
    modes.push_back(is_leaf ? "LEAF" : r.OneOf(all_modes));
    values.push_back(Quarters(r, 1)[0] / 2);
    if_true.push_back(0);
    if_false.push_back(0);
    if (!is_leaf) {
      if_true[place] = Grow(r, tree, first, depth - 1, n, all_modes, vote);
      if_false[place] = Grow(r, tree, first, depth - 1, n, all_modes, vote);
      return id;
    }
    for (int64_t target : vote(tree)) {
      vote_trees.push_back(tree);
      vote_ids.push_back(id);
      targets.push_back(target);
      weights.push_back(Quarters(r, 1)[0]);
    }
    return id;
  }

  void AddTo(Call* call, const std::string& kind) const {
    call->Ints("nodes_treeids", trees)
        .Ints("nodes_nodeids", ids)
        .Ints("nodes_featureids", features)
        .Ints("nodes_truenodeids", if_true)
        .Ints("nodes_falsenodeids", if_false)
        .Ints("nodes_missing_value_tracks_true", tracks)
        .Strings("nodes_modes", modes)
        .Floats("nodes_values", values)
        .Ints(kind + "_treeids", vote_trees)
        .Ints(kind + "_nodeids", vote_ids)
        .Ints(kind + "_ids", targets)
        .Floats(kind + "_weights", weights);
  }
};

void AddTrees(Grower* g, const std::string& op) {
  Random& r = g->random();
  const bool classes = op == "TreeEnsembleClassifier";
  const int64_t n = 1 + r.Next(6), count = 1 + r.Next(12);
  // One of two classes alone has votes; see the deviations of ONNX Runtime's.
  const int64_t targets = classes ? 2 + r.Next(3) : 1 + r.Next(3);
  const bool one_score = classes && targets == 2;
  const bool all_vote = r.Chance(50);
  const auto vote = [&](int64_t tree) {
    if (one_score) return Shape{0};
    return all_vote ? CountUp(targets, 0) : Shape{tree % targets};
  };
  const std::vector<std::string> modes =
      r.Chance(70)
          ? std::vector<std::string>{"BRANCH_LEQ"}
          : std::vector<std::string>{"BRANCH_LT", "BRANCH_GTE", "BRANCH_GT",
                                     "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_LEQ"};
  Trees trees;
  for (int64_t tree = 0; tree < count; ++tree) {
    trees.Grow(r, tree, static_cast<int64_t>(trees.ids.size()),
               static_cast<int>(r.Next(6)), n, modes, vote);
  }
  Call call = Ml(op, {Rows(g, {kF32, kF32, kF64}, n)});
  trees.AddTo(&call, classes ? "class" : "target");
  call.String("post_transform", Transform(r));
  const int64_t scores = one_score ? 1 : targets;
  // ONNX Runtime forgets the base of a regressor's target without votes.
  if ((classes || all_vote) && r.Chance(40))
    call.Floats("base_values", Quarters(r, scores));
  if (classes) {
    g->Add(call.Ints("classlabels_int64s", CountUp(targets, -1, 4)).Results(2));
    return;
  }
  g->Try(call.Int("n_targets", targets)
             .String("aggregate_function",
                     r.OneOf({"SUM", "AVERAGE", "MIN", "MAX"})));
}

}  // namespace

void AddClassical(std::vector<OnnxSampler>* samplers) {
  samplers->push_back(
      {{"ArrayFeatureExtractor", "Binarizer", "FeatureVectorizer", "Imputer",
        "LabelEncoder", "Normalizer", "OneHotEncoder", "Scaler"},
       AddFeatures});
  samplers->push_back({{"LinearClassifier", "LinearRegressor"}, AddLinear});
  samplers->push_back({{"SVMClassifier", "SVMRegressor"}, AddSvm});
  samplers->push_back(
      {{"TreeEnsembleClassifier", "TreeEnsembleRegressor"}, AddTrees});
}

}  // namespace ingot::fuzz
