// Index arithmetic: what a schedule and its lowering must know of integer
// expressions. Everything here is about scalar i64 expressions; anything that
// is not a sum of constant multiples is an opaque atom, compared by structure.
#ifndef INGOT_COMPILER_TE_AFFINE_H_
#define INGOT_COMPILER_TE_AFFINE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/tir/ir.h"

namespace ingot::te {

using tir::Expr;

// The same expression, node for node (variables by identity).
bool SameExpr(const Expr& a, const Expr& b);

class Ranges;

// constant + sum of coefficient * atom. Atoms are distinct, coefficients are
// not 0; the order is that of first appearance, so that printing is stable.
class Linear {
 public:
  struct Term {
    Expr atom;
    int64_t coefficient;
  };

  Linear() = default;
  Linear(int64_t constant) : constant_(constant) {}  // NOLINT: converts
  static Linear Atom(Expr atom);
  // Expands sums and products; simplifies floor division and modulo by
  // constants with what `ranges` knows (null: nothing). x // c * c + x % c
  // becomes x.
  static Linear Of(const Expr& e, const Ranges* ranges = nullptr);

  Expr ToExpr() const;

  int64_t constant() const { return constant_; }
  const std::vector<Term>& terms() const { return terms_; }
  std::optional<int64_t> AsConst() const;
  // Every coefficient and the constant are multiples of `c`.
  bool IsMultipleOf(int64_t c) const;
  int64_t CoefficientOf(const tir::Var* var) const;  // 0 if absent

  Linear operator+(const Linear& o) const;
  Linear operator-(const Linear& o) const;
  Linear operator*(int64_t factor) const;
  bool operator==(const Linear& o) const;

 private:
  void Add(const Expr& atom, int64_t coefficient);
  void JoinDivMod();

  int64_t constant_ = 0;
  std::vector<Term> terms_;
};

// What is known of variables: inclusive bounds, which may mention variables
// set earlier. Variables without a range are dimensions, taken to be >= 0.
class Ranges {
 public:
  void Set(const tir::Var* var, const Linear& min, const Linear& max);
  bool Has(const tir::Var* var) const { return index_.count(var) != 0; }

  // A bound of `form` in which no ranged variable is left.
  Linear LowerBound(const Linear& form) const;
  Linear UpperBound(const Linear& form) const;
  bool ProveNonNegative(const Linear& form) const;
  bool ProveLess(const Linear& a, const Linear& b) const {
    return ProveNonNegative(b - a - Linear(1));
  }
  // True or false where the comparison (or logical tree of them) is decided.
  std::optional<bool> Decide(const Expr& condition) const;

 private:
  struct Entry {
    const tir::Var* var;
    Linear min, max;
  };
  Linear Bound(Linear form, bool upper) const;

  std::vector<Entry> entries_;
  std::map<const tir::Var*, size_t> index_;  // only looked up, never walked
};

// A half-open box side: [min, min + extent).
struct Interval {
  Linear min;
  Linear extent;
  // Some value of the interval may not be taken: callers that compute all of
  // it must check bounds.
  bool inexact = false;
};

// Values that `e` takes while each variable in `box` takes those of its
// interval. Nothing when no bound is known.
std::optional<Interval> IntervalOf(
    const Expr& e, const std::map<const tir::Var*, Interval>& box,
    const Ranges& ranges);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_AFFINE_H_
