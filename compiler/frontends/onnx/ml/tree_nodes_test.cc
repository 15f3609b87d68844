// TreeEnsembleClassifier and TreeEnsembleRegressor against a walk down each
// tree, one row at a time.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
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
using testing::ElementsAreArray;
using Proto = onnx::NodeProto;

struct Node {
  int64_t tree, id;
  std::string mode;
  int64_t feature = 0;
  float value = 0;
  int64_t if_true = 0, if_false = 0, nan_is_true = 0;
};

struct Vote {
  int64_t tree, node, target;
  float weight;
};

struct Trees {
  std::vector<Node> nodes;
  std::vector<Vote> votes;
  std::vector<float> base;
  std::string aggregate = "SUM", transform = "NONE";
  bool as_doubles = false;
};

void SetNumbers(Proto* n, const std::string& name,
                const std::vector<float>& values, bool as_doubles) {
  if (!as_doubles) return SetFloats(n, name, values);
  auto* a = n->add_attribute();
  a->set_name(name + "_as_tensor");
  a->set_type(onnx::AttributeProto::TENSOR);
  a->mutable_t()->set_data_type(onnx::TensorProto::DOUBLE);
  a->mutable_t()->add_dims(static_cast<int64_t>(values.size()));
  for (float v : values) a->mutable_t()->add_double_data(v);
}

template <typename T, typename Field>
auto Column(const std::vector<T>& rows, Field T::*field) {
  std::vector<Field> values;
  for (const T& row : rows) values.push_back(row.*field);
  return values;
}

void SetTrees(Proto* n, const Trees& t, const std::string& kind) {
  SetInts(n, "nodes_treeids", Column(t.nodes, &Node::tree));
  SetInts(n, "nodes_nodeids", Column(t.nodes, &Node::id));
  SetStrings(n, "nodes_modes", Column(t.nodes, &Node::mode));
  SetInts(n, "nodes_featureids", Column(t.nodes, &Node::feature));
  SetNumbers(n, "nodes_values", Column(t.nodes, &Node::value), t.as_doubles);
  SetInts(n, "nodes_truenodeids", Column(t.nodes, &Node::if_true));
  SetInts(n, "nodes_falsenodeids", Column(t.nodes, &Node::if_false));
  SetInts(n, "nodes_missing_value_tracks_true",
          Column(t.nodes, &Node::nan_is_true));
  SetInts(n, kind + "_treeids", Column(t.votes, &Vote::tree));
  SetInts(n, kind + "_nodeids", Column(t.votes, &Vote::node));
  SetInts(n, kind + "_ids", Column(t.votes, &Vote::target));
  SetNumbers(n, kind + "_weights", Column(t.votes, &Vote::weight),
             t.as_doubles);
  if (!t.base.empty()) SetNumbers(n, "base_values", t.base, t.as_doubles);
  SetString(n, "post_transform", t.transform);
}

Operator Regressor(const Trees& t, int64_t targets) {
  return {"TreeEnsembleRegressor", "ai.onnx.ml", 3, [=](Proto* n) {
            SetTrees(n, t, "target");
            SetInt(n, "n_targets", targets);
            SetString(n, "aggregate_function", t.aggregate);
          }};
}

Operator Classifier(const Trees& t, const std::vector<int64_t>& labels) {
  return {"TreeEnsembleClassifier", "ai.onnx.ml", 3,
          [=](Proto* n) {
            SetTrees(n, t, "class");
            SetInts(n, "classlabels_int64s", labels);
          },
          2};
}

bool IsTrue(const Node& n, float x) {
  if (std::isnan(x) && n.nan_is_true != 0) return true;
  return n.mode == "BRANCH_LEQ"   ? x <= n.value
         : n.mode == "BRANCH_LT"  ? x < n.value
         : n.mode == "BRANCH_GTE" ? x >= n.value
         : n.mode == "BRANCH_GT"  ? x > n.value
         : n.mode == "BRANCH_EQ"  ? x == n.value
                                  : x != n.value;
}

// The votes of one row's leaves.
std::vector<Vote> VotesFor(const Trees& t, const float* x) {
  auto find = [&](int64_t tree, int64_t id) {
    return *std::find_if(t.nodes.begin(), t.nodes.end(), [&](const Node& n) {
      return n.tree == tree && n.id == id;
    });
  };
  std::vector<Vote> votes;
  for (size_t i = 0; i < t.nodes.size(); ++i) {
    if (i > 0 && t.nodes[i].tree == t.nodes[i - 1].tree) continue;
    Node at = t.nodes[i];
    while (at.mode != "LEAF") {
      at = find(at.tree, IsTrue(at, x[at.feature]) ? at.if_true : at.if_false);
    }
    for (const Vote& v : t.votes) {
      if (v.tree == at.tree && v.node == at.id) votes.push_back(v);
    }
  }
  return votes;
}

std::vector<float> Expected(const Trees& t, const Tensor& x, int64_t targets) {
  const double trees = static_cast<double>(t.nodes.back().tree + 1);
  std::vector<float> result;
  for (int64_t row = 0; row < x.shape()[0]; ++row) {
    const std::vector<Vote> votes =
        VotesFor(t, x.data<float>() + row * x.shape()[1]);
    for (int64_t target = 0; target < targets; ++target) {
      std::vector<double> said;
      for (const Vote& v : votes) {
        if (v.target == target) said.push_back(v.weight);
      }
      double y = 0;
      for (double s : said) y += s;
      if (t.aggregate == "AVERAGE") y /= trees;
      if (t.aggregate == "MIN" && !said.empty()) {
        y = *std::min_element(said.begin(), said.end());
      }
      if (t.aggregate == "MAX" && !said.empty()) {
        y = *std::max_element(said.begin(), said.end());
      }
      if (!t.base.empty()) y += t.base[target];
      result.push_back(static_cast<float>(y));
    }
  }
  return result;
}

// Trees of random nodes with all modes, or BRANCH_LEQ alone; `vote` says what
// targets leaves of a tree vote for.
Trees RandomTrees(unsigned seed, bool all_modes,
                  const std::function<std::vector<int64_t>(int64_t)>& vote) {
  static constexpr const char* kModes[] = {"BRANCH_LEQ", "BRANCH_LT",
                                           "BRANCH_GTE", "BRANCH_GT",
                                           "BRANCH_EQ",  "BRANCH_NEQ"};
  std::mt19937 random(seed);
  Trees t;
  auto number = [&] { return static_cast<float>(random() % 9) / 2 - 2; };
  for (int64_t tree = 0; tree < 6; ++tree) {
    int64_t next = 0;
    const std::function<int64_t(int)> grow = [&](int depth) {
      const size_t place = t.nodes.size();
      const int64_t id = next++;
      t.nodes.push_back({tree, id, "LEAF"});
      if (depth == 0 || random() % 4 == 0) {
        for (int64_t target : vote(tree)) {
          t.votes.push_back({tree, id, target, number()});
        }
        return id;
      }
      Node n = {tree, id, kModes[all_modes ? random() % 6 : 0]};
      n.feature = static_cast<int64_t>(random() % 2);
      n.value = number();
      n.nan_is_true = all_modes ? static_cast<int64_t>(random() % 2) : 0;
      n.if_true = grow(depth - 1);
      n.if_false = grow(depth - 1);
      t.nodes[place] = n;
      return id;
    };
    grow(tree == 3 ? 0 : 4);
  }
  return t;
}

const float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor Rows() {
  return Floats({7, 2}, {-2, 0, 0.5f, 0.5f, 2, -1.5f, kNan, 0, 1, kNan, 0, 0,
                         kNan, kNan});
}

TEST(TreeEnsembleRegressorTest, WalksDownEachTree) {
  const Tensor x = Rows();
  for (unsigned seed = 0; seed < 8; ++seed) {
    // A target of each tree, as many for each or not; or several of each leaf,
    // one of them twice.
    Trees t = RandomTrees(seed, seed % 2 == 1, [&](int64_t tree) {
      return seed % 3 == 0   ? std::vector<int64_t>{tree % 3}
             : seed % 3 == 1 ? std::vector<int64_t>{tree % 4 % 3}
                             : std::vector<int64_t>{0, 2, 0};
    });
    for (const char* aggregate : {"SUM", "AVERAGE", "MIN", "MAX"}) {
      t.aggregate = aggregate;
      t.as_doubles = seed == 4;
      t.base = seed % 2 == 0 ? std::vector<float>{0.5f, -1, 0.25f}
                             : std::vector<float>{};
      const std::vector<float> expected = Expected(t, x, 3);
      ExpectNear(RunFloats(Regressor(t, 3), {x}), expected);
      ExpectNear(RunFloats(Regressor(t, 3), {Symbolic(x)}), expected);
    }
  }
}

TEST(TreeEnsembleRegressorTest, OperandsOfOtherTypes) {
  const Trees t =
      RandomTrees(3, false, [](int64_t) { return std::vector<int64_t>{0}; });
  const Tensor x = Floats({3, 2}, {-2, 1, 0, 0, 2, -1});
  const std::vector<float> expected = Expected(t, x, 1);
  ExpectNear(RunFloats(Regressor(t, 1), {Longs({3, 2}, {-2, 1, 0, 0, 2, -1})}),
             expected);
  ExpectNear(RunFloats(Regressor(t, 1),
                       {MakeTestTensor<double>(DataType::Float(64), {3, 2},
                                               {-2, 1, 0, 0, 2, -1})}),
             expected);
}

TEST(TreeEnsembleRegressorTest, DoublesDecideExactly) {
  Trees t;
  t.nodes = {{0, 0, "BRANCH_LEQ", 0, 1, 1, 2}, {0, 1, "LEAF"}, {0, 2, "LEAF"}};
  t.votes = {{0, 1, 0, 1}, {0, 2, 0, 2}};
  const Tensor x =
      MakeTestTensor<double>(DataType::Float(64), {2, 1}, {1, 1 + 0x1p-40});
  ExpectNear(RunFloats(Regressor(t, 1), {x}), {1, 2});
}

TEST(TreeEnsembleClassifierTest, TheMostVotesWin) {
  const Tensor x = Rows();
  const std::vector<int64_t> labels = {7, -3, 5};
  for (unsigned seed = 0; seed < 6; ++seed) {
    Trees t = RandomTrees(seed, seed % 2 == 1, [&](int64_t tree) {
      return seed < 3 ? std::vector<int64_t>{0, 1, 2}
                      : std::vector<int64_t>{tree % 3};
    });
    t.transform = "SOFTMAX";
    if (seed == 2) t.base = {0.5f, 0, -1};
    const std::vector<float> plain = Expected(t, x, 3);
    std::vector<float> shares;
    std::vector<int64_t> winners;
    for (int64_t row = 0; row < 7; ++row) {
      const float* s = plain.data() + row * 3;
      double sum = 0;
      for (int i = 0; i < 3; ++i) sum += std::exp(double{s[i]});
      for (int i = 0; i < 3; ++i) {
        shares.push_back(static_cast<float>(std::exp(double{s[i]}) / sum));
      }
      winners.push_back(labels[std::max_element(s, s + 3) - s]);
    }
    for (const Operand& operand : {Operand(x), Symbolic(x)}) {
      const std::vector<Tensor> y = Outputs(Classifier(t, labels), {operand});
      EXPECT_THAT(y[0].values<int64_t>(), ElementsAreArray(winners)) << seed;
      ExpectNear(ValuesOf(y[1]), shares);
    }
  }
}

// One tree that tells x <= 0, x <= 1 and the rest apart.
Trees ThreeLeaves(std::vector<Vote> votes) {
  Trees t;
  t.nodes = {{0, 0, "BRANCH_LEQ", 0, 0, 1, 2},
             {0, 1, "LEAF"},
             {0, 2, "BRANCH_LEQ", 0, 1, 3, 4},
             {0, 3, "LEAF"},
             {0, 4, "LEAF"}};
  t.votes = std::move(votes);
  return t;
}

TEST(TreeEnsembleClassifierTest, AClassWithoutVotesIsNoCandidate) {
  const Trees t = ThreeLeaves({{0, 1, 1, -2}, {0, 3, 2, -1}, {0, 4, 0, -1}});
  const Tensor x = Floats({3, 1}, {0, 1, 2});
  EXPECT_THAT(Outputs(Classifier(t, {4, 5, 6}), {x})[0].values<int64_t>(),
              ElementsAre(5, 6, 4));
}

TEST(TreeEnsembleClassifierTest, TwoClassesByOneScore) {
  const Tensor x = Floats({3, 1}, {0, 1, 2});
  auto run = [&](const Trees& t) {
    return Outputs(Classifier(t, {4, 5}), {x});
  };
  Trees shares = ThreeLeaves({{0, 1, 0, 0.25f}, {0, 3, 0, 0.5f}, {0, 4, 0, 1}});
  EXPECT_THAT(run(shares)[0].values<int64_t>(), ElementsAre(4, 4, 5));
  ExpectNear(ValuesOf(run(shares)[1]), {0.75f, 0.25f, 0.5f, 0.5f, 0, 1});
  Trees signs = ThreeLeaves({{0, 1, 0, -1}, {0, 3, 0, 0}, {0, 4, 0, 2}});
  EXPECT_THAT(run(signs)[0].values<int64_t>(), ElementsAre(4, 4, 5));
  ExpectNear(ValuesOf(run(signs)[1]), {1, -1, 0, 0, -2, 2});
  signs.base = {0.5f};
  signs.transform = "LOGISTIC";
  EXPECT_THAT(run(signs)[0].values<int64_t>(), ElementsAre(4, 5, 5));
  auto share = [](double s) {
    return static_cast<float>(1 / (1 + std::exp(-s)));
  };
  ExpectNear(ValuesOf(run(signs)[1]), {share(0.5), share(-0.5), share(-0.5),
                                       share(0.5), share(-2.5), share(2.5)});
  // Votes for the second class alone.
  for (Vote& v : shares.votes) v.target = 1;
  EXPECT_THAT(run(shares)[0].values<int64_t>(), ElementsAre(4, 4, 5));
  ExpectNear(ValuesOf(run(shares)[1]), {0, 0.25f, 0, 0.5f, 0, 1});
}

TEST(TreeEnsembleClassifierTest, LabelsThatAreStrings) {
  const Trees t = ThreeLeaves({{0, 1, 1, 1}, {0, 3, 0, 1}, {0, 4, 2, 1}});
  const Operator op{"TreeEnsembleClassifier", "ai.onnx.ml", 1,
                    [t](Proto* n) {
                      SetTrees(n, t, "class");
                      SetStrings(n, "classlabels_strings", {"x", "", "long"});
                    },
                    2};
  EXPECT_THAT(StringsOf(Outputs(op, {Floats({3, 1}, {0, 1, 2})})[0]),
              ElementsAre("", "x", "long"));
}

TEST(TreeNodesTest, RefusesBrokenTrees) {
  const Tensor x = Floats({3, 1}, {0, 1, 2});
  auto refused = [&](const std::function<void(Trees*)>& spoil) {
    Trees t = ThreeLeaves({{0, 1, 1, 1}, {0, 3, 0, 1}, {0, 4, 2, 1}});
    spoil(&t);
    return !RunOperator(Regressor(t, 3), {x}).ok();
  };
  EXPECT_FALSE(refused([](Trees*) {}));
  EXPECT_TRUE(refused([](Trees* t) { t->nodes[2].if_true = 0; }));  // a circle
  EXPECT_TRUE(refused([](Trees* t) { t->nodes[2].if_true = 9; }));
  EXPECT_TRUE(refused([](Trees* t) { t->nodes[2].if_false = -1; }));
  EXPECT_TRUE(refused([](Trees* t) { t->nodes[2].id = 1; }));
  EXPECT_TRUE(refused([](Trees* t) { t->nodes[0].feature = 1; }));
  EXPECT_TRUE(refused([](Trees* t) { t->nodes[0].feature = -1; }));
  EXPECT_TRUE(refused([](Trees* t) { t->nodes[0].mode = "BRANCH"; }));
  EXPECT_TRUE(refused([](Trees* t) { t->votes[0].node = 7; }));
  EXPECT_TRUE(refused([](Trees* t) { t->votes[0].tree = 1; }));
  EXPECT_TRUE(refused([](Trees* t) { t->votes[0].target = 3; }));
  EXPECT_TRUE(refused([](Trees* t) { t->votes[0].target = -1; }));
  EXPECT_TRUE(refused([](Trees* t) { t->nodes.clear(); }));
  EXPECT_TRUE(refused([](Trees* t) { t->base = {1}; }));
  EXPECT_TRUE(refused([](Trees* t) { t->aggregate = "MEDIAN"; }));
  const Trees t = ThreeLeaves({{0, 1, 0, 1}});
  for (int64_t targets : {int64_t{0}, int64_t{-1}, int64_t{1} << 40}) {
    EXPECT_FALSE(RunOperator(Regressor(t, targets), {x}).ok());
  }
}

}  // namespace
}  // namespace ingot::onnx_frontend
