#include "compiler/te/definition_text.h"

#include <string>

#include "compiler/te/te.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

constexpr DataType kF32 = DataType::Float(32);

// out[i] = sum over k of (x[i, k] + 1)^2, with such names.
std::string SumOfSquares(const std::string& names, int64_t rows,
                         const std::string& symbol, double plus = 1) {
  Graph g;
  const Expr n = tir::MakeVar(symbol);
  Tensor x = g.Placeholder(names, kF32, {I(rows), n});
  Tensor out = g.Reduce(names + "_sum", {I(rows)}, {n}, Reducer::Sum(kF32),
                        [&](auto& i, auto& r) {
                          const Expr term = x({i[0], r[0]}) + F(plus);
                          return term * term;
                        },
                        {{"anchor", "reduce"}});
  return DefinitionText(g, {out});
}

TEST(DefinitionText, NumbersWhatItNames) {
  EXPECT_EQ(SumOfSquares("x", 8, "n"),
            "t0 = placeholder f32[8, s0]\n"
            "t1 = reduce f32[8] over [s0] {anchor=reduce}\n"
            "  e0 = acc + term : f32\n"
            "  e1 = load t0[i0, r0] : f32\n"
            "  e2 = e1 + f32(0x1p+0) : f32\n"
            "  e3 = e2 * e2 : f32\n"
            "  identity f32(0x0p+0) combine e0 value e3\n"
            "outputs t1\n");
}

TEST(DefinitionText, SaysWhatIsComputedAndNotWhatItIsCalled) {
  const std::string text = SumOfSquares("x", 8, "n");
  EXPECT_EQ(SumOfSquares("another name", 8, "batch"), text);
  EXPECT_NE(SumOfSquares("x", 9, "n"), text);
  EXPECT_NE(SumOfSquares("x", 8, "n", 2), text);
}

// As a tree the formula would have 16,384 leaves.
TEST(DefinitionText, PrintsSharedPartsOnce) {
  Graph g;
  Tensor x = g.Placeholder("x", kF32, {I(4)});
  Tensor y = g.Compute("y", {I(4)}, [&](auto& i) {
    Expr value = x(i);
    for (int step = 0; step < 14; ++step) value = value * value;
    return value;
  });
  EXPECT_LT(DefinitionText(g, {y}).size(), 1500u);
}

}  // namespace
}  // namespace ingot::te
