#ifndef INGOT_COMPILER_TIR_AFFINE_H_
#define INGOT_COMPILER_TIR_AFFINE_H_

#include <cstdint>
#include <vector>

#include "compiler/tir/ir.h"

namespace ingot::tir {

// The inclusive range of an i64 value. The extremes of int64_t stand for "no
// bound", and arithmetic saturates there.
struct Interval {
  static constexpr int64_t kNone = INT64_MIN;     // as min
  static constexpr int64_t kNoneMax = INT64_MAX;  // as max

  int64_t min = kNone;
  int64_t max = kNoneMax;

  static Interval Point(int64_t v) { return {v, v}; }
  bool IsBounded() const { return min != kNone && max != kNoneMax; }
  bool IsPoint() const { return min == max; }
};

Interval operator+(Interval a, Interval b);
Interval operator*(Interval a, Interval b);
Interval Union(Interval a, Interval b);
Interval Intersect(Interval a, Interval b);

// Rounds towards minus infinity; b must not be 0 and not overflow.
int64_t FloorDivInt(int64_t a, int64_t b);
int64_t FloorModInt(int64_t a, int64_t b);

// A total order by structure, repeatable from run to run: variables come
// first, by age. Zero means structurally equal (the same variables, buffers
// and bits of constants).
int CompareExpr(const Expr& a, const Expr& b);

// coefficient * factors[0] * factors[1] …; the factors are sorted and none is
// a constant, a sum or a product.
struct Term {
  int64_t coefficient;
  std::vector<Expr> factors;
};

// The canonical form of i64 arithmetic: a sum of terms with different factors,
// sorted, none with coefficient 0, and a constant. Arithmetic wraps.
struct Affine {
  std::vector<Term> terms;
  int64_t constant = 0;

  static Affine Constant(int64_t value);
  // 1 * factor; also takes an integer constant.
  static Affine Atom(Expr factor);

  bool IsConstant() const { return terms.empty(); }
  // Adds other * scale.
  void Add(const Affine& other, int64_t scale = 1);
  void AddConstant(int64_t value);
  void Scale(int64_t factor);

  // As an expression: positive terms first, then the others, then the constant.
  Expr ToExpr() const;
};

// The product, multiplied out. The caller bounds the number of terms.
Affine Multiply(const Affine& a, const Affine& b);

// Orders factor lists: longer ones first, then by CompareExpr.
int CompareFactors(const std::vector<Expr>& a, const std::vector<Expr>& b);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_AFFINE_H_
