// Rows that differ against a plain search for each row's first equal one.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/ir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;
using testing::ElementsAre;

Ints IntsOf(const Tensor& t) {
  const auto values = t.values<int64_t>();
  return Ints(values.begin(), values.end());
}

std::vector<Tensor> UniqueRows(const Tensor& x, bool sorted) {
  Module module;
  Function* f = module.AddFunction("main");
  Node* input = f->AddInput("x", {x.dtype(), MakeShape(x.shape())});
  absl::StatusOr<Node*> node = f->AddOp("unique_rows", "u", {Value{input}},
                                        {{"sorted", int64_t{sorted}}});
  EXPECT_TRUE(node.ok()) << node.status();
  for (int i = 0; i < 4; ++i) f->outputs.push_back(Value{*node, i});
  absl::StatusOr<std::vector<Tensor>> out = EvaluateFunction(module, *f, {x});
  EXPECT_TRUE(out.ok()) << out.status();
  return *out;
}

// Returns the results of unique_rows for `rows`, each followed by the zeros
// that are left.
struct Expected {
  explicit Expected(const std::vector<Ints>& rows, bool sorted) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto first = std::find(rows.begin(), rows.end(), rows[i]);
      const int64_t place = first - rows.begin();
      if (place == static_cast<int64_t>(i)) order.push_back(place);
    }
    if (sorted) {
      std::sort(order.begin(), order.end(),
                [&](int64_t a, int64_t b) { return rows[a] < rows[b]; });
    }
    counts.assign(rows.size(), 0);
    for (const Ints& row : rows) {
      int64_t which = 0;
      while (rows[order[which]] != row) ++which;
      inverse.push_back(which);
      ++counts[which];
    }
    number = static_cast<int64_t>(order.size());
    order.resize(rows.size(), 0);
  }

  Ints order, inverse, counts;
  int64_t number = 0;
};

TEST(UniqueRowsTest, AreTheFirstOfEach) {
  for (const int64_t count : {0, 1, 2, 3, 8, 37, 100}) {
    for (const int64_t width : {1, 2, 3}) {
      for (const int64_t values : {1, 3, 50}) {
        Tensor x = *Tensor::Empty(DataType::Int(64), {count, width});
        std::vector<Ints> rows(count);
        for (int64_t i = 0; i < count * width; ++i) {
          const int64_t value = i * 7919 % 8191 % values - 1;
          x.mutable_data<int64_t>()[i] = value;
          rows[i / width].push_back(value);
        }
        for (const bool sorted : {false, true}) {
          SCOPED_TRACE(testing::Message() << x.TypeString() << " of " << values
                                          << (sorted ? ", sorted" : ""));
          const std::vector<Tensor> out = UniqueRows(x, sorted);
          const Expected expected(rows, sorted);
          EXPECT_EQ(IntsOf(out[0]), expected.order);
          EXPECT_EQ(IntsOf(out[1]), expected.inverse);
          EXPECT_EQ(IntsOf(out[2]), expected.counts);
          EXPECT_THAT(IntsOf(out[3]), ElementsAre(expected.number));
        }
      }
    }
  }
}

TEST(UniqueRowsTest, NansComeLastEachByItself) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  Tensor x = *Tensor::Empty(DataType::Float(32), {7, 1});
  const std::vector<float> values = {nan, 2, -inf, nan, inf, 2, -0.f};
  std::copy(values.begin(), values.end(), x.mutable_data<float>());
  std::vector<Tensor> out = UniqueRows(x, true);
  EXPECT_THAT(IntsOf(out[0]), ElementsAre(2, 6, 1, 4, 0, 3, 0));
  EXPECT_THAT(IntsOf(out[1]), ElementsAre(4, 2, 0, 5, 3, 2, 1));
  EXPECT_THAT(IntsOf(out[2]), ElementsAre(1, 1, 2, 1, 1, 1, 0));
  EXPECT_THAT(IntsOf(out[3]), ElementsAre(6));
  out = UniqueRows(x, false);
  EXPECT_THAT(IntsOf(out[0]), ElementsAre(0, 1, 2, 3, 4, 6, 0));
  EXPECT_THAT(IntsOf(out[1]), ElementsAre(0, 1, 2, 3, 4, 1, 5));
}

}  // namespace
}  // namespace ingot::relay
