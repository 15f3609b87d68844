// Gathers by indices of each type, those that lie outside as well, against the
// element that each index names.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/ir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot::relay {
namespace {

using testing::ElementsAreArray;

Tensor TensorOf(DataType dtype, const std::vector<int64_t>& values) {
  Tensor t = *Tensor::Empty(dtype, {static_cast<int64_t>(values.size())});
  char* at = static_cast<char*>(t.mutable_raw_data());
  for (int64_t v : values) {
    std::memcpy(at, &v, dtype.bytes());
    at += dtype.bytes();
  }
  return t;
}

std::vector<float> Gathered(const char* op, int64_t extent,
                            const Tensor& indices) {
  Tensor x = *Tensor::Empty(DataType::Float(32), {extent});
  for (int64_t i = 0; i < extent; ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(100 + i);
  }
  Module module;
  Function* f = module.AddFunction("main");
  Node* data = f->AddInput("x", {x.dtype(), MakeShape(x.shape())});
  Node* places =
      f->AddInput("i", {indices.dtype(), MakeShape(indices.shape())});
  absl::StatusOr<Node*> node =
      f->AddOp(op, "g", {Value{data}, Value{places}}, {});
  EXPECT_TRUE(node.ok()) << node.status();
  f->outputs.push_back(Value{*node});
  absl::StatusOr<std::vector<Tensor>> out =
      EvaluateFunction(module, *f, {x, indices});
  EXPECT_TRUE(out.ok()) << out.status();
  const auto values = (*out)[0].values<float>();
  return {values.begin(), values.end()};
}

TEST(GatherTest, NegativeIndicesCountFromTheEndAndOthersAreClamped) {
  constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();
  const std::vector<int64_t> small = {0, 1, 4, 5, 100};
  const std::vector<int64_t> negative = {-1, -5, -6, -100};
  const std::vector<int64_t> large = {kMost32, -kMost32 - 1};
  const std::vector<int64_t> unsigned_only = {kMost32 + 1, 2 * kMost32 + 1};
  for (DataType t : {DataType::Int(8), DataType::Int(32), DataType::Int(64),
                     DataType::UInt(8), DataType::UInt(32)}) {
    std::vector<int64_t> indices = small;
    auto add = [&](const std::vector<int64_t>& more) {
      indices.insert(indices.end(), more.begin(), more.end());
    };
    if (t.is_int()) add(negative);
    if (t.is_int() && t.bits >= 32) add(large);
    if (t.bits > 32 || t == DataType::UInt(32)) add(unsigned_only);
    for (int64_t extent : {int64_t{1}, int64_t{5}}) {
      std::vector<float> expected;
      for (int64_t i : indices) {
        const int64_t from_start = i < 0 ? i + extent : i;
        expected.push_back(static_cast<float>(
            100 + std::clamp<int64_t>(from_start, 0, extent - 1)));
      }
      for (const char* op : {"gather", "gather_elements"}) {
        EXPECT_THAT(Gathered(op, extent, TensorOf(t, indices)),
                    ElementsAreArray(expected))
            << op << " " << t.ToString() << " of " << extent;
      }
    }
    // Nothing is there to be found; the result is 0.
    EXPECT_THAT(Gathered("gather", 0, TensorOf(t, {0, 3})),
                ElementsAreArray({0.0f, 0.0f}));
  }
}

}  // namespace
}  // namespace ingot::relay
