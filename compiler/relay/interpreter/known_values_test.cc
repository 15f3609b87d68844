// Known elements against the interpreter: a formula, evaluated with numbers for
// its symbols, is what the call gives for these numbers.
#include "compiler/relay/interpreter/known_values.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/parser.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

// The elements of main's output 0; "?" where one is not known.
std::string Elements(Module* module) {
  KnownValues values;
  const Value output = module->main()->outputs[0];
  std::string text;
  for (const tir::Expr& e : values.Integers(output)) {
    absl::StrAppend(&text, text.empty() ? "" : ", ",
                    e == nullptr ? "?" : DimToString(e));
  }
  return text;
}

std::string ElementsOf(const std::string& body) {
  auto module = ReadModule(absl::StrCat(
      "module {\n  func @main(%x: f32[n, 3, m], %k: i64[2]) -> (%y) {\n", body,
      "\n  }\n}\n"));
  if (!module.ok()) return std::string(module.status().message());
  return Elements(module->get());
}

constexpr char kDims[] =
    "%d = dims(%x) {values=[n, 3, m]}\n"
    "%i = const i64[2] {2, 0}\n"
    "%two = const i64[] {2}\n";

TEST(KnownValuesTest, FollowsFormulasThroughDefinitions) {
  EXPECT_EQ(ElementsOf(absl::StrCat(kDims, "%y = identity(%d)")), "n, 3, m");
  EXPECT_EQ(ElementsOf(absl::StrCat(kDims, "%y = gather(%d, %i)")), "m, n");
  EXPECT_EQ(ElementsOf(absl::StrCat(kDims, "%y = mul(%d, %two)")),
            "n * 2, 6, m * 2");
  EXPECT_EQ(ElementsOf(absl::StrCat(
                kDims, "%y = slice(%d) {starts=[1], ends=[3], axes=[0]}")),
            "3, m");
  EXPECT_EQ(ElementsOf(absl::StrCat(
                kDims, "%y = reduce_sum(%d) {axes=[0], keepdims=0}")),
            "n + m + 3");
  EXPECT_EQ(ElementsOf(absl::StrCat(
                kDims, "%y = reduce_max(%d) {axes=[0], keepdims=0}")),
            "max(m, max(n, 3))");
}

TEST(KnownValuesTest, FloatsAreFollowedAsLongAsTheyAreWhole) {
  const std::string floats =
      absl::StrCat(kDims, "%f = cast(%d) {dtype=f32}\n",
                   "%s = const f32[] {2}\n%h = const f32[] {0.5}\n");
  EXPECT_EQ(ElementsOf(absl::StrCat(floats,
                                    "%m = mul(%f, %s)\n%g = div(%m, %s)\n"
                                    "%y = cast(%g) {dtype=i64}")),
            "n, 3, m");
  // Half of n is no integer for all n; half of 3 is 1 after a cast.
  EXPECT_EQ(ElementsOf(absl::StrCat(
                floats, "%g = mul(%f, %h)\n%y = cast(%g) {dtype=i64}")),
            "?, 1, ?");
}

TEST(KnownValuesTest, ElementsAreKnownOneByOne) {
  EXPECT_EQ(ElementsOf(absl::StrCat(kDims, "%y = concat(%k, %d) {axis=0}")),
            "?, ?, n, 3, m");
  EXPECT_EQ(ElementsOf("%y = add(%k, %k)"), "?, ?");
}

TEST(KnownValuesTest, ConditionsThatSymbolsLeaveOpenAreNotDecided) {
  EXPECT_EQ(
      ElementsOf(absl::StrCat(kDims,
                              "%z = const i64[] {-1}\n%c = greater(%d, %z)\n"
                              "%y = where(%c, %d, %z)")),
      "n, 3, m");
  EXPECT_EQ(
      ElementsOf(absl::StrCat(kDims,
                              "%z = const i64[] {2}\n%c = greater(%d, %z)\n"
                              "%y = where(%c, %d, %z)")),
      "?, 3, ?");
}

// Calls on constants give the interpreter's results, bit by bit; those that are
// made of loops by hand are interpreted.
TEST(KnownValuesTest, AgreesWithTheInterpreterOnConstants) {
  const char* const kCalls[] = {
      "add(%a, %b)",         "sub(%a, %b)",
      "div(%a, %b)",         "mod(%a, %b)",
      "pow(%a, %b)",         "sqrt(%b)",
      "round(%a)",           "exp(%a)",
      "maximum(%a, %b)",     "softmax(%a)",
      "reduce_mean(%a)",     "reciprocal(%b)",
      "cumsum(%a) {axis=0}", "transpose(%a) {axes=[0]}",
      "cast(%a) {dtype=i8}", "less(%a, %b)"};
  for (const char* type : {"f32", "f64", "f16", "i64", "i32"}) {
    for (const char* call : kCalls) {
      auto module = ReadModule(
          absl::StrCat("module {\n  func @main() -> (%y) {\n    %a = const ",
                       type, "[4] {-7, 3, 5, 0}\n    %b = const ", type,
                       "[4] {2, 3, 7, 1}\n    %y = ", call, "\n  }\n}\n"));
      if (!module.ok()) continue;  // not defined for the type
      SCOPED_TRACE(absl::StrCat(type, " ", call));
      const Function& main = *(*module)->main();
      KnownValues values;
      const Known* known = values.Of(main.outputs[0]);
      ASSERT_NE(known, nullptr);
      const auto tensor = TensorFromKnown(*known);
      ASSERT_TRUE(tensor.ok()) << tensor.status();
      const auto expected = EvaluateFunction(**module, main, {});
      ASSERT_TRUE(expected.ok()) << expected.status();
      ASSERT_EQ(tensor->TypeString(), (*expected)[0].TypeString());
      EXPECT_EQ(std::string(static_cast<const char*>(tensor->raw_data()),
                            tensor->bytes()),
                std::string(static_cast<const char*>((*expected)[0].raw_data()),
                            (*expected)[0].bytes()));
    }
  }
}

TEST(KnownValuesTest, LargeValuesAreLeftToRuns) {
  auto module = ReadModule(
      "module {\n  func @main() -> (%y) {\n"
      "    %y = full() {shape=[4097], dtype=i64, value=1.0}\n  }\n}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  KnownValues values;
  EXPECT_EQ(values.Of((*module)->main()->outputs[0]), nullptr);
}

}  // namespace
}  // namespace ingot::relay
