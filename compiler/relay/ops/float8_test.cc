// Floats of 8 bits: how large their formulas are, and scales of e8m0 beside
// what frexp says.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"
#include "compiler/te/te.h"
#include "compiler/tir/visitor.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot::relay {
namespace {

class Counter : public tir::ExprVisitor {
 public:
  int64_t nodes = 0;

  void Visit(const tir::Expr& e) override {
    ++nodes;
    tir::ExprVisitor::Visit(e);
  }
};

int64_t SizeOf(const std::string& op, DataType operand,
               const std::string& format) {
  Function function("main");
  const std::vector<tir::Expr> shape = {tir::MakeInt(3)};
  const Value x{function.AddInput("x", {operand, shape})};
  const auto node = function.AddOp(op, "y", {x}, {{"format", format}});
  EXPECT_TRUE(node.ok()) << node.status();
  if (!node.ok()) return 0;
  te::Graph graph;
  const std::vector<te::Tensor> inputs = {
      graph.Placeholder("x", operand, shape)};
  const auto results = (*node)->op->compute(
      ComputeContext{graph, inputs, (*node)->attrs, (*node)->outputs, "y"});
  EXPECT_TRUE(results.ok()) << results.status();
  if (!results.ok()) return 0;
  Counter counter;
  counter.Visit(graph.Find(results->front())->value);
  return counter.nodes;
}

// A formula that is written out several times in a loop must be compiled, too.
TEST(Float8Test, FormulasAreSmall) {
  for (const char* format :
       {"e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e2m1", "e8m0"}) {
    EXPECT_LE(SizeOf("float8_encode", DataType::Float(32), format), 15000)
        << format;
    EXPECT_LE(SizeOf("float8_decode", DataType::UInt(8), format), 1000)
        << format;
  }
}

TEST(Float8Test, ScalesAreExponents) {
  std::vector<float> numbers;
  for (int exponent = -126; exponent < 128; ++exponent) {
    for (float mantissa :
         {1.0f, std::nextafter(1.0f, 2.0f), 1.25f, std::nextafter(1.5f, 1.0f),
          1.5f, std::nextafter(2.0f, 1.0f)}) {
      numbers.push_back(std::ldexp(mantissa, exponent));
      numbers.push_back(-numbers.back());
    }
  }
  Tensor x = *Tensor::Empty(DataType::Float(32),
                            {static_cast<int64_t>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), x.mutable_data<float>());
  for (const std::string rounding : {"down", "up", "nearest"}) {
    Module module;
    Function* f = module.AddFunction("main");
    const auto node =
        f->AddOp("float8_encode", "y", {Value{f->AddConstant("x", x)}},
                 {{"format", "e8m0"}, {"rounding", rounding}});
    ASSERT_TRUE(node.ok()) << node.status();
    f->outputs = {Value{*node}};
    const auto results = EvaluateFunction(module, *f, {});
    ASSERT_TRUE(results.ok()) << results.status();
    const auto codes = (*results)[0].values<uint8_t>();
    for (size_t i = 0; i < numbers.size(); ++i) {
      int exponent;
      const float half = std::frexp(std::fabs(numbers[i]), &exponent);
      const bool up = (rounding == "up" && half > 0.5f) ||
                      (rounding == "nearest" && half >= 0.75f);
      EXPECT_EQ(codes[i], std::min(exponent - 1 + 127 + up, 254))
          << numbers[i] << " " << rounding;
    }
  }
}

}  // namespace
}  // namespace ingot::relay
