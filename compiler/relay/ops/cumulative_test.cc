// Running sums and products against plain loops, of sizes around the blocks in
// which they are made.
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/ir.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot::relay {
namespace {

Tensor Numbers(const std::vector<int64_t>& shape) {
  Tensor x = *Tensor::Empty(DataType::Int(32), shape);
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    x.mutable_data<int32_t>()[i] = static_cast<int32_t>(i * 7919 % 13 - 5);
  }
  return x;
}

Tensor Scan(const std::string& op, const Tensor& x, const Attrs& attrs) {
  Module module;
  Function* f = module.AddFunction("main");
  Node* input = f->AddInput("x", {x.dtype(), MakeShape(x.shape())});
  absl::StatusOr<Node*> node = f->AddOp(op, "y", {Value{input}}, attrs);
  EXPECT_TRUE(node.ok()) << node.status();
  f->outputs = {Value{*node}};
  absl::StatusOr<std::vector<Tensor>> out = EvaluateFunction(module, *f, {x});
  EXPECT_TRUE(out.ok()) << out.status();
  return (*out)[0];
}

// The same by its definition: each result from all elements that it is made of.
std::vector<int32_t> Expected(bool is_sum, const Tensor& x, int axis,
                              bool exclusive, bool reverse) {
  int64_t inner = 1;
  for (int d = static_cast<int>(x.shape().size()) - 1; d > axis; --d)
    inner *= x.shape()[d];
  const int64_t extent = x.shape()[axis];
  std::vector<int32_t> y;
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    const int64_t place = i / inner % extent;
    uint32_t result = is_sum ? 0 : 1;
    for (int64_t e = 0; e < extent; ++e) {
      const bool before = reverse ? e > place : e < place;
      if (!before && (exclusive || e != place)) continue;
      const auto element =
          static_cast<uint32_t>(x.data<int32_t>()[i + (e - place) * inner]);
      result = is_sum ? result + element : result * element;
    }
    y.push_back(static_cast<int32_t>(result));
  }
  return y;
}

TEST(CumulativeTest, IsWhatTheDefinitionSays) {
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{1},
                                         {9},
                                         {0},
                                         {3, 0},
                                         {0, 3},
                                         {8, 3},
                                         {17, 2},
                                         {3, 1024},
                                         {2, 1029},
                                         {2, 3, 5},
                                         {3, 9, 1},
                                         {1, 2, 2, 3}}) {
    const Tensor x = Numbers(shape);
    for (int axis = 0; axis < static_cast<int>(x.shape().size()); ++axis) {
      for (int flags = 0; flags < 8; ++flags) {
        const bool is_sum = (flags & 1) == 0, exclusive = (flags & 2) != 0,
                   reverse = (flags & 4) != 0;
        const Tensor y = Scan(is_sum ? "cumsum" : "cumprod", x,
                              {{"axis", int64_t{axis}},
                               {"exclusive", int64_t{exclusive}},
                               {"reverse", int64_t{reverse}}});
        const auto got = y.values<int32_t>();
        EXPECT_EQ(std::vector<int32_t>(got.begin(), got.end()),
                  Expected(is_sum, x, axis, exclusive, reverse))
            << x.TypeString() << " axis " << axis << " flags " << flags;
      }
    }
  }
}

}  // namespace
}  // namespace ingot::relay
