#ifndef INGOT_COMPILER_TIR_ARITH_SIMPLIFIER_H_
#define INGOT_COMPILER_TIR_ARITH_SIMPLIFIER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/tir/arith/affine.h"
#include "compiler/tir/arith/bounds.h"
#include "compiler/tir/arith/interval.h"
#include "compiler/tir/ir.h"

namespace ingot::tir {

// Coefficients and constants beyond this are too large to reason about.
constexpr int64_t kHuge = int64_t{1} << 60;

// The product of two numbers below this does not overflow.
constexpr int64_t kSmall = int64_t{1} << 30;

// Whether coefficients and constant are all that small.
bool IsSmall(const Affine& a);

// The work for one expression, in visits of its nodes; what is left when this
// is spent stays as it is.
constexpr int kMaxSteps = 1 << 16;

// The rules that simplify.h applies, for one expression and one state of
// knowledge.
class Simplifier {
 public:
  // `bounds` must outlive this; null for none.
  explicit Simplifier(const Bounds* bounds) : bounds_(bounds) {}

  Expr Run(const Expr& e);
  // The affine form of an i64 scalar.
  Affine ToAffine(const Expr& e);
  // The same of one that ToAffine gave before: its sums and products are taken
  // apart, the rest is not simplified again. Rules that look into operands use
  // this, for else each level of nested quotients would double the work.
  Affine Decompose(const Expr& e);

  Interval Range(const Affine& a);
  Interval Range(const Expr& e);
  bool ProveNonNegative(const Affine& a);

  // Whether the value depends on loaded data, whose arithmetic may wrap.
  bool IsData(const Expr& e);
  // Whether rules that hold for integers but not for wrapping ones are barred.
  bool MayOverflow(const Affine& a);

 private:
  Expr RunChildren(const Expr& e);
  Expr RunBinary(const Binary& node);
  Expr Comparison(const Expr& e, const Binary& node);
  Expr OrderedComparison(bool strict, Affine difference);
  Expr Equality(bool equal, Affine difference);

  Affine BinaryToAffine(const Expr& e, const Binary& node);
  Affine MinMax(const Binary& node);
  Affine FloorDiv(const Affine& a, const Affine& b);
  Affine FloorMod(const Affine& a, const Affine& b);
  Affine FloorDivConst(const Affine& a, int64_t c);
  // floor(a / c), where it is the same number whatever the variables are.
  std::optional<int64_t> OneQuotient(const Affine& a, int64_t c);
  Affine FloorModConst(const Affine& a, int64_t c);
  // a = high * base + low, where 0 <= low < base and base > 1 divides c, so
  // that only `high` need be divided, by c / base. The largest such base that
  // terms show; nothing where there is none.
  struct Digits {
    Affine high, low;
    int64_t base;
  };
  std::optional<Digits> DigitsOf(const Affine& a, int64_t c);
  // a = *quotient * b + *rest, as far as a's terms show it.
  void Divide(const Affine& a, const Affine& b, Affine* quotient, Affine* rest);
  // a = quotient * b + rest; `whole` where 0 <= rest < b is known, so that
  // these are the quotient and remainder.
  struct Division {
    Affine quotient, rest;
    bool whole = false;
  };
  Division DivideSymbolic(const Affine& a, const Affine& b);
  // (x // c) * c + x % c is x.
  void JoinQuotients(Affine* a);

  Interval VarRange(const Var* var);
  Interval TermRange(const Term& term);
  // A lower bound of `a` by way of one symbolic bound; false if there is none.
  bool LowerOnce(const Affine& a, Affine* lower);
  // Lower bounds of the term, by way of its quotient, minimum or maximum; none
  // where it has no such factor.
  std::vector<Affine> LowerBounds(const Term& term);
  // Spends *choices on the ways to go on.
  bool ProveBySymbols(Affine a, int* choices);

  const Bounds* const bounds_;
  int steps_ = 0;  // so far, of kMaxSteps
};

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_ARITH_SIMPLIFIER_H_
