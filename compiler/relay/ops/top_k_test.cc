// Operators that take what comes first, against sorting all of it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

uint32_t Next(uint32_t* state) {
  *state = *state * 1664525 + 1013904223;
  return *state >> 16;
}

// The results of an operator on these.
std::vector<Tensor> ResultsOf(const std::string& op,
                              const std::vector<Tensor>& in,
                              const Attrs& attrs) {
  Module module;
  Function* f = module.AddFunction("main");
  std::vector<Value> values;
  for (const Tensor& t : in) {
    values.push_back(Value{f->AddConstant("c", t)});
  }
  const absl::StatusOr<Node*> node = f->AddOp(op, "y", values, attrs);
  EXPECT_TRUE(node.ok()) << node.status();
  if (!node.ok()) return {};
  absl::StatusOr<std::vector<Tensor>> results = EvaluateNode(**node);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *std::move(results) : std::vector<Tensor>();
}

// Compares the operator with the places of [outer, n, inner] in order, equal
// ones as they come and NaNs last.
template <typename T>
void CheckTopK(const Tensor& x, int64_t k, bool largest) {
  SCOPED_TRACE(x.TypeString() + " " + std::to_string(k) +
               (largest ? " largest" : " smallest"));
  const std::vector<Tensor> y =
      ResultsOf("top_k", {x},
                {{"k", MakeShape({k})},
                 {"axis", int64_t{1}},
                 {"largest", static_cast<int64_t>(largest)}});
  ASSERT_EQ(y.size(), 2u);
  const int64_t n = x.shape()[1], inner = x.NumElements() / x.shape()[0] / n;
  for (int64_t o = 0; o < x.shape()[0]; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const auto at = [&](int64_t place) {
        return x.data<T>()[(o * n + place) * inner + i];
      };
      Ints order(n);
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const T p = at(a), q = at(b);
        const bool a_is_nan = p != p, b_is_nan = q != q;
        if (a_is_nan != b_is_nan) return b_is_nan;
        if (a_is_nan || p == q) return a < b;
        return largest ? p > q : p < q;
      });
      for (int64_t s = 0; s < k; ++s) {
        const int64_t slot = (o * k + s) * inner + i;
        ASSERT_EQ(y[1].data<int64_t>()[slot], order[s]) << s;
        const T value = y[0].data<T>()[slot], expected = at(order[s]);
        ASSERT_TRUE(value == expected ||
                    (value != value && expected != expected))
            << s;
      }
    }
  }
}

// Few different numbers, and `others` now and then.
Tensor Floats(const Ints& shape, const std::vector<float>& others) {
  Tensor x = *Tensor::Empty(DataType::Float(32), shape);
  uint32_t state = 1;
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    const uint32_t number = Next(&state);
    const bool other = !others.empty() && number % 3 == 0;
    x.mutable_data<float>()[i] = other ? others[number / 3 % others.size()]
                                       : static_cast<float>(number % 50) - 25;
  }
  return x;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Blocks of those that follow the first k, and what is left of them.
TEST(TopKTest, SizesOfAllKinds) {
  for (int64_t n : {1, 2, 31, 32, 33, 100}) {
    for (int64_t k : Ints{0, 1, 2, 3, 7, n / 2, n - 1, n}) {
      if (k > n) continue;
      for (bool largest : {false, true}) {
        CheckTopK<float>(Floats({2, n}, {}), k, largest);
        CheckTopK<float>(Floats({2, n, 3}, {}), k, largest);
      }
    }
  }
}

TEST(TopKTest, NaNsComeLast) {
  const std::vector<std::vector<float>> others = {{kNan},
                                                  {kNan, kInfinity, -kInfinity},
                                                  {kInfinity, -kInfinity},
                                                  {0.f, -0.f}};
  for (const std::vector<float>& values : others) {
    for (int64_t k : {1, 5, 40, 70}) {
      for (bool largest : {false, true}) {
        CheckTopK<float>(Floats({3, 70}, values), k, largest);
        CheckTopK<float>(Floats({1, 70, 2}, values), k, largest);
      }
    }
  }
  // An infinity comes before the NaNs that the first k are.
  Tensor x = *Tensor::Empty(DataType::Float(32), {1, 80});
  std::fill_n(x.mutable_data<float>(), 80, kNan);
  x.mutable_data<float>()[50] = -kInfinity;
  CheckTopK<float>(x, 2, true);
  x.mutable_data<float>()[50] = kInfinity;
  CheckTopK<float>(x, 2, false);
}

TEST(TopKTest, WholeNumbers) {
  Tensor x = *Tensor::Empty(DataType::Int(64), {2, 75});
  uint32_t state = 3;
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    const auto number = static_cast<int64_t>(Next(&state) % 40);
    x.mutable_data<int64_t>()[i] =
        number == 0 ? std::numeric_limits<int64_t>::min() : number - 20;
  }
  for (int64_t k : {1, 6, 75}) {
    CheckTopK<int64_t>(x, k, true);
    CheckTopK<int64_t>(x, k, false);
  }
}

template <typename T>
Tensor Scalar(DataType type, T value) {
  Tensor t = *Tensor::Empty(type, {});
  *t.mutable_data<T>() = value;
  return t;
}

// A number of boxes of one batch, with places in a square of `extent`.
struct Boxes {
  int64_t boxes, classes, most;
  uint32_t extent = 64;
  bool center = false;  // not corners
};

double Overlap(const float* a, const float* b) {
  const double h = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const double w = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (h <= 0 || w <= 0) return 0;
  const auto area = [](const float* box) {
    return double{box[2] - box[0]} * (box[3] - box[1]);
  };
  return h * w / (area(a) + area(b) - h * w);
}

// The rows of the boxes of one class that are picked: by falling score, each
// compared with those that were picked.
Ints PickedOf(const Boxes& given, const float* corners, const float* score,
              int64_t batch, int64_t kind) {
  Ints order, picked, rows;
  for (int64_t i = 0; i < given.boxes; ++i) {
    if (score[i] > 0.25f) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return score[a] != score[b] ? score[a] > score[b] : a < b;
  });
  for (int64_t i : order) {
    const bool is_near =
        std::any_of(picked.begin(), picked.end(), [&](int64_t other) {
          return Overlap(corners + i * 4, corners + other * 4) > 0.4f;
        });
    if (is_near || static_cast<int64_t>(picked.size()) == given.most) continue;
    picked.push_back(i);
    rows.insert(rows.end(), {batch, kind, i});
  }
  return rows;
}

// Fills whole corners y1, x1, y2 and x2, in any order, or x and y of the
// middle, width and height, and the corners in order.
void FillBoxes(const Boxes& given, Tensor* boxes, std::vector<float>* corners) {
  uint32_t state = 7;
  corners->resize(boxes->NumElements());
  for (int64_t i = 0; i < boxes->NumElements() / 4; ++i) {
    float* box = boxes->mutable_data<float>() + i * 4;
    float* corner = corners->data() + i * 4;
    for (int d = 0; d < 2; ++d) {
      corner[d] = static_cast<float>(Next(&state) % given.extent);
      corner[2 + d] = corner[d] + 8 + static_cast<float>(Next(&state) % 32);
    }
    for (int d = 0; d < 2; ++d) {
      const float low = corner[d], high = corner[2 + d];
      const bool swapped = i % 3 == 1 + d;
      box[given.center ? 1 - d : d] = given.center ? (low + high) / 2
                                      : swapped    ? high
                                                   : low;
      box[given.center ? 3 - d : 2 + d] = given.center ? high - low
                                          : swapped    ? low
                                                       : high;
    }
  }
}

// Returns how many boxes are picked of two batches.
int64_t CheckBoxes(const Boxes& given) {
  SCOPED_TRACE(testing::Message() << given.boxes << " boxes, " << given.most);
  constexpr int64_t kBatches = 2;
  const DataType f32 = DataType::Float(32);
  Tensor boxes = *Tensor::Empty(f32, {kBatches, given.boxes, 4});
  Tensor scores = *Tensor::Empty(f32, {kBatches, given.classes, given.boxes});
  std::vector<float> corners;
  FillBoxes(given, &boxes, &corners);
  uint32_t state = 9;
  for (int64_t i = 0; i < scores.NumElements(); ++i) {
    // Many scores are equal, some of the second class are none, and the third
    // class has no good ones.
    const int64_t kind = i / given.boxes % given.classes;
    float& score = scores.mutable_data<float>()[i];
    score = static_cast<float>(Next(&state) % 16) / 16;
    if (kind == 1 && i % 5 == 0) score = kNan;
    if (kind == 2) score = 0.1f;
  }
  const std::vector<Tensor> y =
      ResultsOf("non_max_suppression",
                {boxes, scores, Scalar<int64_t>(DataType::Int(64), given.most),
                 Scalar<float>(f32, 0.4f), Scalar<float>(f32, 0.25f)},
                {{"most", MakeShape({given.most})},
                 {"center", static_cast<int64_t>(given.center)}});
  EXPECT_EQ(y.size(), 2u);
  if (y.size() != 2) return 0;
  Ints expected;
  for (int64_t b = 0; b < kBatches; ++b) {
    for (int64_t c = 0; c < given.classes; ++c) {
      const Ints rows = PickedOf(
          given, corners.data() + b * given.boxes * 4,
          scores.data<float>() + (b * given.classes + c) * given.boxes, b, c);
      expected.insert(expected.end(), rows.begin(), rows.end());
    }
  }
  const auto count = static_cast<int64_t>(expected.size()) / 3;
  EXPECT_EQ(y[1].data<int64_t>()[0], count);
  expected.resize(kBatches * given.classes * given.most * 3, 0);
  EXPECT_EQ(y[0].values<int64_t>(), expected);
  return count;
}

TEST(NonMaxSuppressionTest, PicksByScore) {
  EXPECT_GT(CheckBoxes({120, 3, 30}), 20);
  Boxes centers = {120, 3, 30};
  centers.center = true;
  EXPECT_GT(CheckBoxes(centers), 20);
}

// Those picked are compared in blocks: parts of one, whole ones, one more.
TEST(NonMaxSuppressionTest, PicksMany) {
  Boxes sparse = {150, 1, 150};
  sparse.extent = 600;
  EXPECT_GT(CheckBoxes(sparse), 150);
  for (const int64_t most : {1, 15, 16, 17, 32, 33}) {
    sparse.most = most;
    EXPECT_EQ(CheckBoxes(sparse), 2 * most);
  }
}

TEST(NonMaxSuppressionTest, PicksFew) {
  EXPECT_EQ(CheckBoxes({0, 2, 3}), 0);
  EXPECT_EQ(CheckBoxes({9, 1, 0}), 0);
  EXPECT_GT(CheckBoxes({1, 1, 1}), 0);
}

}  // namespace
}  // namespace ingot::relay
