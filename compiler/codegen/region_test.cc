#include "compiler/codegen/region.h"

#include <memory>
#include <string>
#include <vector>

#include "compiler/relay/op.h"
#include "compiler/relay/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::codegen {
namespace {

using relay::Node;
using relay::Value;
using ::testing::HasSubstr;

std::unique_ptr<relay::Module> Parse(const std::string& text) {
  auto module = relay::ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

Node* Last(const relay::Function& function) {
  return function.nodes().back().get();
}

TEST(Region, RunsAlongOneDimension) {
  using Dims = std::vector<int64_t>;
  const Dims result = {2, 3, 1, 4};
  const auto along = [&](const Dims& shape, size_t axis) {
    return RunsAlong(shape, result, axis);
  };
  EXPECT_TRUE(along({3, 1, 1}, 1));
  EXPECT_TRUE(along({1, 3, 1, 1}, 1));
  EXPECT_TRUE(along({4}, 3));
  EXPECT_FALSE(along({1}, 2));  // only the last dimension is its own
  EXPECT_TRUE(along({1, 1}, 2));
  EXPECT_FALSE(along({}, 3));
  EXPECT_FALSE(along({1}, 3));
  EXPECT_FALSE(along({3}, 1));
  EXPECT_FALSE(along({3, 1, 4}, 1));
  EXPECT_FALSE(along({2, 3, 1, 1}, 1));
  EXPECT_FALSE(along({1, 2, 3, 1, 4}, 1));
}

TEST(Region, KnowsSizes) {
  auto module = Parse(
      "module { func @main(%x: f32[2, 3], %y: i8[n], %z: f32[4294967296]) -> "
      "(%x) { } }");
  ASSERT_NE(module, nullptr);
  const auto& inputs = module->main()->inputs;
  EXPECT_EQ(*KnownElements(inputs[0]->outputs[0]), 6);
  EXPECT_EQ(*KnownBytes({inputs[0]}), 24u);
  EXPECT_EQ(*KnownBytes({}), 0u);
  EXPECT_THAT(std::string(KnownBytes({inputs[1]}).status().message()),
              HasSubstr("i8[n] has a dimension that is not known"));
  EXPECT_EQ(*KnownBytes({inputs[2]}), size_t{1} << 34);
}

// A composite as the partition makes it, in a region.
TEST(Region, ReadsTheOperatorsOfACall) {
  auto module = Parse(R"(module {
    func @main(%a: f32[2, 3], %b: f32[3, 4], %c: f32[4]) -> (%n) {
      %r = @product(%a, %b, %c) : f32[2, 4]
      %n = neg(%r)
    }
    func @product(%p0: f32[2, 3], %p1: f32[3, 4], %p2: f32[4]) -> (%s) attrs {composite="product"} {
      %m = matmul(%p0, %p1)
      %s = add(%p2, %m)
    }
  })");
  ASSERT_NE(module, nullptr);
  const relay::Function& main = *module->main();
  Node* const neg = Last(main);
  const RegionCall call = ReadCall(*module, *neg->inputs[0].node);
  ASSERT_EQ(call.nodes.size(), 2u);
  EXPECT_EQ(call.Find({"dense", "matmul"}), call.nodes[0]);
  EXPECT_EQ(call.Find({"conv2d"}), nullptr);
  const auto outside = [&](const std::string& op, int n) {
    return call.Outside(call.Operand(op, n));
  };
  EXPECT_EQ(outside("matmul", 0), Value{main.inputs[0]});
  EXPECT_EQ(outside("matmul", 1), Value{main.inputs[1]});
  EXPECT_EQ(outside("add", 0), Value{main.inputs[2]});
  EXPECT_EQ(outside("add", 1), Value{});
  EXPECT_EQ(outside("mul", 0), Value{});

  // An operator by itself.
  const RegionCall alone = ReadCall(*module, *neg);
  EXPECT_EQ(alone.nodes, std::vector<Node*>{neg});
  EXPECT_EQ(alone.Outside(alone.Operand("neg")), neg->inputs[0]);
}

TEST(Region, ChecksElementwiseOperators) {
  const auto why = [](const std::string& inputs) {
    auto module = Parse("module { func @main(" + inputs +
                        ") -> (%y) { %y = add(%a, %b) } }");
    return std::string(CheckElementwise(*Last(*module->main())).message());
  };
  EXPECT_EQ(why("%a: f32[2, 3], %b: f32[2, 3]"), "");
  EXPECT_EQ(why("%a: f32[2, 3], %b: f32[]"), "");
  EXPECT_EQ(why("%a: f32[2, 3], %b: f32[3]"),
            "an operand f32[3] would have to be repeated");
  EXPECT_EQ(why("%a: i32[2], %b: i32[2]"), "only f32, not i32");
  EXPECT_EQ(why("%a: f32[n], %b: f32[n]"),
            "f32[n] has a dimension that is not known");
}

}  // namespace
}  // namespace ingot::codegen
