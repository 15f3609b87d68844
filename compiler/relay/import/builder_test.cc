#include "compiler/relay/import/builder.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/import/call_builder.h"
#include "compiler/relay/import/compose.h"
#include "compiler/relay/import/convert_elements.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/verifier.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

Tensor Longs(std::vector<int64_t> values) {
  Tensor tensor =
      *Tensor::Empty(DataType::Int(64), {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.mutable_data<int64_t>());
  return tensor;
}

TEST(BuilderTest, DimensionsThatAreKnownNeedNoSymbols) {
  ModuleBuilder builder;
  const Dim n = builder.module().Symbol("n");
  const Value x{
      builder.function()->AddInput("x", {DataType::Float(32), {n, n}})};
  const auto dims = builder.DimsTensor({n, tir::MakeInt(4)}, "dims");
  ASSERT_TRUE(dims.ok()) << dims.status();
  // The source of n is x, which has it as a dimension.
  EXPECT_EQ(dims->node->inputs[0], x);
  const auto bound = builder.BindDims(*dims, "target");
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_TRUE(SameShape(*bound, {n, tir::MakeInt(4)}));
}

// A reshape to what a run computes: the symbols get the elements of `k`, and
// the result is what the interpreter makes of it.
TEST(BuilderTest, RunTimeDimensionsHaveSources) {
  ModuleBuilder builder;
  const Value k{builder.function()->AddInput(
      "k", {DataType::Int(64), {tir::MakeInt(2)}})};
  const auto bound = builder.BindDims(k, "target");
  ASSERT_TRUE(bound.ok()) << bound.status();
  CallBuilder calls(&builder, "make");
  Attrs attrs;
  attrs.Set("shape", *bound);
  attrs.Set("dtype", DataType::Float(32));
  attrs.Set("value", 2.5);
  const auto full = calls.Emit("full", {}, std::move(attrs));
  ASSERT_TRUE(full.ok()) << full.status();
  ASSERT_EQ(full->node->inputs.size(), 1u);  // the source
  builder.function()->outputs = {*full};
  builder.function()->output_names = {"y"};
  const absl::Status valid = Verify(builder.module());
  ASSERT_TRUE(valid.ok()) << valid;
  const auto y =
      EvaluateFunction(builder.module(), *builder.function(), {Longs({2, 3})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].TypeString(), "f32[2, 3]");
}

// Exporters count the elements of a mask wherever they select by it.
TEST(BuilderTest, NumbersThatAreComputedAlikeAreOne) {
  ModuleBuilder builder;
  const TensorType mask = {DataType::Bool(), {tir::MakeInt(8)}};
  const Value a{builder.function()->AddInput("a", mask)};
  const Value b{builder.function()->AddInput("b", mask)};
  int calls = 0;
  const auto count = [&](const Value& x, DataType type) {
    CallBuilder make(&builder, absl::StrCat("count_", calls++));
    Attrs cast, sum;
    cast.Set("dtype", type);
    const Value ones = *make.Emit("cast", {x}, std::move(cast), "ones");
    sum.Set("axes", std::vector<int64_t>{0});
    sum.Set("keepdims", int64_t{0});
    const Value number = *make.Emit("reduce_sum", {ones}, std::move(sum));
    return (*builder.BindDims(number, "count"))[0];
  };
  const Dim first = count(a, DataType::Int(64));
  EXPECT_EQ(count(a, DataType::Int(64)), first);
  EXPECT_NE(count(b, DataType::Int(64)), first);
  // With another attribute it is another one, which nothing compares.
  EXPECT_NE(count(a, DataType::Int(32)), first);
  EXPECT_EQ(count(a, DataType::Int(64)), first);
}

TEST(BuilderTest, BodiesCaptureValuesAndTheSourcesOfTheirDimensions) {
  ModuleBuilder builder;
  const Dim n = builder.module().Symbol("n");
  const Value x{builder.function()->AddInput("x", {DataType::Float(32), {n}})};
  const auto body = builder.BuildBody("branch", [&]() -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(const auto inside,
                           builder.Capture(builder.current(), x));
    EXPECT_TRUE(builder.IsKnownHere(n));
    builder.function()->outputs = {inside};
    return absl::OkStatus();
  });
  ASSERT_TRUE(body.ok()) << body.status();
  EXPECT_EQ(body->name, "branch");
  ASSERT_EQ(body->captured.size(), 1u);
  EXPECT_EQ(body->captured[0], x);
  EXPECT_EQ(builder.function()->name, "main");

  const auto failed = builder.BuildBody(
      "branch", [] { return absl::InvalidArgumentError("no such body"); });
  EXPECT_TRUE(absl::IsInvalidArgument(failed.status()));
  EXPECT_EQ(builder.module().Find("branch_1"), nullptr);
}

TEST(BuilderTest, ComposeKeepsTheFirstError) {
  ModuleBuilder builder;
  const Value x{builder.function()->AddInput(
      "x", {DataType::Float(32), {tir::MakeInt(3)}})};
  CallBuilder calls(&builder, "formula");
  Compose k(calls);
  const Value wrong = k.Call("no_such_operator", {x});
  EXPECT_FALSE(wrong);
  EXPECT_FALSE(k.Add(wrong, 1.0));
  EXPECT_NE(k.status().message().find("no_such_operator"), std::string::npos)
      << k.status();
}

// 20 does not fit four bits with a sign: of integers the low bits are kept.
TEST(BuilderTest, EmulatedElementsAreConverted) {
  ModuleBuilder builder;
  const Value x{builder.function()->AddInput(
      "x", {DataType::Int(64), {tir::MakeInt(3)}})};
  CallBuilder calls(&builder, "narrow");
  const auto four = ConvertElements(calls, x, {DataType::Int(64)},
                                    ElementType::Of(StorageType::kInt4));
  ASSERT_TRUE(four.ok()) << four.status();
  builder.function()->outputs = {*four};
  builder.function()->output_names = {"y"};
  const auto y = EvaluateFunction(builder.module(), *builder.function(),
                                  {Longs({20, 7, -8})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].values<int8_t>()[0], 4);
  EXPECT_EQ((*y)[0].values<int8_t>()[1], 7);
  EXPECT_EQ((*y)[0].values<int8_t>()[2], -8);
}

}  // namespace
}  // namespace ingot::relay
