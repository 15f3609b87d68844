#ifndef INGOT_COMPILER_TIR_ARITH_AFFINE_H_
#define INGOT_COMPILER_TIR_ARITH_AFFINE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/tir/ir.h"

namespace ingot::tir {

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

  Affine() = default;
  explicit Affine(int64_t value) : constant(value) {}
  // 1 * factor; also takes an integer constant.
  static Affine Atom(Expr factor);

  bool IsConstant() const { return terms.empty(); }
  std::optional<int64_t> AsConst() const;
  // Whether every coefficient and the constant are multiples of `c`, which is
  // not 0.
  bool IsMultipleOf(int64_t c) const;
  // The coefficient of the variable alone; 0 if it has no such term.
  int64_t CoefficientOf(const Var* var) const;
  // Adds other * scale.
  void Add(const Affine& other, int64_t scale = 1);
  void AddConstant(int64_t value);
  void Scale(int64_t factor);

  // As an expression: positive terms first, then the others, then the constant.
  Expr ToExpr() const;
};

Affine operator+(Affine a, const Affine& b);
Affine operator-(Affine a, const Affine& b);
Affine operator*(Affine a, int64_t factor);
// Whether the difference is 0.
bool operator==(const Affine& a, const Affine& b);

// The product, multiplied out. The caller bounds the number of terms.
Affine Multiply(const Affine& a, const Affine& b);

// The greatest common divisor of the coefficients, 0 without terms; the
// constant does not count.
int64_t CoefficientGcd(const Affine& a);
// The terms divided by g, which must divide them, without the constant.
Affine DivideTerms(const Affine& a, int64_t g);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_ARITH_AFFINE_H_
