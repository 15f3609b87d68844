// TreeEnsemble against a walk down each tree, one row at a time.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gtest/gtest.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {
namespace {

using Node = onnx::NodeProto;

const float kNan = std::numeric_limits<float>::quiet_NaN();

struct Branch {
  int64_t feature, mode;
  float split;
  int64_t true_id, true_leaf, false_id, false_leaf, nan_is_true = 0;
};

struct Trees {
  std::vector<Branch> branches;
  std::vector<int64_t> roots;
  std::vector<float> weights;
  std::vector<int64_t> targets;
  std::vector<float> members;
  int64_t num_targets = 1, aggregate = 1, transform = 0;
};

template <typename T>
void SetTensor(Node* node, const std::string& name, int type,
               const std::vector<T>& values) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::TENSOR);
  a->mutable_t()->set_data_type(type);
  a->mutable_t()->add_dims(static_cast<int64_t>(values.size()));
  a->mutable_t()->set_raw_data(values.data(), values.size() * sizeof(T));
}

Operator OpOf(const Trees& t) {
  return {"TreeEnsemble", "ai.onnx.ml", 5, [t](Node* n) {
            auto column = [&](auto field) {
              std::vector<int64_t> values;
              for (const Branch& b : t.branches) values.push_back(b.*field);
              return values;
            };
            SetInts(n, "nodes_featureids", column(&Branch::feature));
            SetInts(n, "nodes_truenodeids", column(&Branch::true_id));
            SetInts(n, "nodes_trueleafs", column(&Branch::true_leaf));
            SetInts(n, "nodes_falsenodeids", column(&Branch::false_id));
            SetInts(n, "nodes_falseleafs", column(&Branch::false_leaf));
            SetInts(n, "nodes_missing_value_tracks_true",
                    column(&Branch::nan_is_true));
            std::vector<uint8_t> modes;
            std::vector<float> splits;
            for (const Branch& b : t.branches) {
              modes.push_back(static_cast<uint8_t>(b.mode));
              splits.push_back(b.split);
            }
            SetTensor(n, "nodes_modes", onnx::TensorProto::UINT8, modes);
            SetTensor(n, "nodes_splits", onnx::TensorProto::FLOAT, splits);
            SetTensor(n, "leaf_weights", onnx::TensorProto::FLOAT, t.weights);
            if (!t.members.empty()) {
              SetTensor(n, "membership_values", onnx::TensorProto::FLOAT,
                        t.members);
            }
            SetInts(n, "leaf_targetids", t.targets);
            SetInts(n, "tree_roots", t.roots);
            SetInt(n, "n_targets", t.num_targets);
            SetInt(n, "aggregate_function", t.aggregate);
            SetInt(n, "post_transform", t.transform);
          }};
}

// The members of branch `at`.
std::vector<float> MembersOf(const Trees& t, int64_t at) {
  size_t set = 0;
  for (int64_t i = 0; i < at; ++i) set += t.branches[i].mode == 6;
  std::vector<std::vector<float>> sets(1);
  for (float m : t.members) {
    if (std::isnan(m)) {
      sets.emplace_back();
    } else {
      sets.back().push_back(m);
    }
  }
  return sets[set];
}

bool IsTrue(const Trees& t, int64_t at, float x) {
  const Branch& b = t.branches[at];
  if (std::isnan(x) && b.nan_is_true != 0) return true;
  switch (b.mode) {
    case 0:
      return x <= b.split;
    case 1:
      return x < b.split;
    case 2:
      return x >= b.split;
    case 3:
      return x > b.split;
    case 4:
      return x == b.split;
    case 5:
      return x != b.split;
    default: {
      const std::vector<float> set = MembersOf(t, at);
      return std::count(set.begin(), set.end(), x) > 0;
    }
  }
}

std::vector<float> Walk(const Trees& t, const Tensor& x) {
  std::vector<float> result;
  for (int64_t row = 0; row < x.shape()[0]; ++row) {
    std::vector<std::vector<float>> said(t.num_targets);
    for (int64_t root : t.roots) {
      int64_t at = root;
      for (bool leaf = false; !leaf;) {
        const Branch& b = t.branches[at];
        const bool yes =
            IsTrue(t, at, x.data<float>()[row * x.shape()[1] + b.feature]);
        leaf = (yes ? b.true_leaf : b.false_leaf) != 0;
        at = yes ? b.true_id : b.false_id;
      }
      said[t.targets[at]].push_back(t.weights[at]);
    }
    for (const std::vector<float>& s : said) {
      float sum = 0;
      for (float v : s) sum += v;
      if (t.aggregate == 0) sum /= static_cast<float>(t.roots.size());
      if (t.aggregate == 2 && !s.empty()) {
        sum = *std::min_element(s.begin(), s.end());
      }
      if (t.aggregate == 3 && !s.empty()) {
        sum = *std::max_element(s.begin(), s.end());
      }
      result.push_back(sum);
    }
  }
  return result;
}

// Trees of random branches; `modes` says which ones they have.
Trees RandomTrees(unsigned seed, const std::vector<int64_t>& modes) {
  std::mt19937 random(seed);
  Trees t;
  t.num_targets = 3;
  auto number = [&] { return static_cast<float>(random() % 9) / 2 - 2; };
  for (int tree = 0; tree < 4; ++tree) {
    const int64_t first = static_cast<int64_t>(t.branches.size());
    t.roots.push_back(first);
    const int64_t count = 1 + static_cast<int64_t>(random() % 6);
    // Each branch but the first is the child of one before it.
    std::vector<std::pair<int64_t, bool>> open;
    for (int64_t i = 0; i < count; ++i) {
      if (i > 0) {
        const size_t which = random() % open.size();
        Branch& parent = t.branches[open[which].first];
        (open[which].second ? parent.true_id : parent.false_id) = first + i;
        (open[which].second ? parent.true_leaf : parent.false_leaf) = 0;
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
      }
      t.branches.push_back({static_cast<int64_t>(random() % 2),
                            modes[random() % modes.size()], number(), -1, 1, -1,
                            1, static_cast<int64_t>(random() % 2)});
      open.emplace_back(first + i, true);
      open.emplace_back(first + i, false);
      if (t.branches.back().mode == 6) {
        for (int m = 0; m < 3; ++m) t.members.push_back(number());
        t.members.push_back(kNan);
      }
    }
    for (const auto& [branch, is_true] : open) {
      (is_true ? t.branches[branch].true_id : t.branches[branch].false_id) =
          static_cast<int64_t>(t.weights.size());
      t.weights.push_back(number());
      t.targets.push_back(static_cast<int64_t>(random() % 3));
    }
  }
  return t;
}

TEST(TreeEnsembleTest, WalksDownEachTree) {
  const Tensor x = Floats({7, 2}, {-2, 0, 0.5f, 0.5f, 2, -1.5f, kNan, 0, 1,
                                   kNan, 0, 0, kNan, kNan});
  for (unsigned seed = 0; seed < 12; ++seed) {
    Trees t = RandomTrees(
        seed, seed % 3 == 0 ? std::vector<int64_t>{0}
                            : std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6});
    for (int64_t aggregate : {0, 1, 2, 3}) {
      t.aggregate = aggregate;
      ExpectNear(RunFloats(OpOf(t), {x}), Walk(t, x));
      ExpectNear(RunFloats(OpOf(t), {Symbolic(x)}), Walk(t, x));
    }
  }
}

TEST(TreeEnsembleTest, TransformsAfterwards) {
  Trees t = RandomTrees(5, {0});
  const Tensor x = RandomFloats({3, 2}, 1);
  const std::vector<float> plain = Walk(t, x);
  std::vector<float> soft, logistic;
  for (int row = 0; row < 3; ++row) {
    float sum = 0;
    for (int i = 0; i < 3; ++i) sum += std::exp(plain[row * 3 + i]);
    for (int i = 0; i < 3; ++i) {
      soft.push_back(std::exp(plain[row * 3 + i]) / sum);
      logistic.push_back(1 / (1 + std::exp(-plain[row * 3 + i])));
    }
  }
  t.transform = 1;
  ExpectNear(RunFloats(OpOf(t), {x}), soft);
  t.transform = 2;
  ExpectNear(RunFloats(OpOf(t), {x}), logistic);
  t.transform = 5;
  EXPECT_FALSE(RunOperator(OpOf(t), {x}).ok());
}

TEST(TreeEnsembleTest, RefusesBrokenTrees) {
  const Tensor x = RandomFloats({3, 2}, 1);
  const Trees good = RandomTrees(1, {0});
  ASSERT_TRUE(RunOperator(OpOf(good), {x}).ok());
  auto refused = [&](auto spoil) {
    Trees t = good;
    spoil(&t);
    return !RunOperator(OpOf(t), {x}).ok();
  };
  EXPECT_TRUE(refused([](Trees* t) {  // a circle
    t->branches[0].true_id = 0;
    t->branches[0].true_leaf = 0;
  }));
  EXPECT_TRUE(refused([](Trees* t) { t->branches[0].feature = 2; }));
  EXPECT_TRUE(refused([](Trees* t) { t->branches[0].feature = -1; }));
  EXPECT_TRUE(refused([](Trees* t) { t->branches[0].mode = 7; }));
  EXPECT_TRUE(refused([](Trees* t) { t->branches[0].mode = 6; }));
  EXPECT_TRUE(refused([](Trees* t) { t->branches[0].true_id = 1 << 20; }));
  EXPECT_TRUE(refused([](Trees* t) { t->roots[0] = -1; }));
  EXPECT_TRUE(refused([](Trees* t) { t->roots.clear(); }));
  EXPECT_TRUE(refused([](Trees* t) { t->targets[0] = 3; }));
  EXPECT_TRUE(refused([](Trees* t) { t->weights.pop_back(); }));
  EXPECT_TRUE(refused([](Trees* t) { t->aggregate = 4; }));
}

}  // namespace
}  // namespace ingot::onnx_frontend
