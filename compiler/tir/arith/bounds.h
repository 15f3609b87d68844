#ifndef INGOT_COMPILER_TIR_ARITH_BOUNDS_H_
#define INGOT_COMPILER_TIR_ARITH_BOUNDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/tir/arith/affine.h"
#include "compiler/tir/arith/interval.h"
#include "compiler/tir/ir.h"

namespace ingot::tir {

// Facts about i64 variables. A value type; it keeps the expressions it
// is given alive, but not the variables it is asked about: forget them before
// they go. Reading is safe from several threads.
class Bounds {
 public:
  Bounds() = default;

  // Bounds under which every variable not set otherwise is at least 0, as all
  // symbolic dimensions are: a graph's, a schedule's and a kernel's.
  static Bounds Dimensions();

  // min <= var <= max.
  void Set(const Var* var, int64_t min, int64_t max);
  // The same of bounds that mention other variables.
  void Set(const Var* var, const Affine& min, const Affine& max);
  // min <= var < min + extent, also where these are not constants.
  void SetLoop(const Var* var, const Expr& min, const Expr& extent);
  // States that var equals `value`.
  void SetValue(const Var* var, const Expr& value);
  void Forget(const Var* var);

  // Takes a bool expression to be true: comparisons of i64, alone or joined by
  // kAnd; the rest is ignored. Facts are a stack.
  void PushFact(const Expr& condition);
  // Takes it to be false.
  void PushFactNot(const Expr& condition);
  size_t num_facts() const { return facts_.size(); }
  void PopFacts(size_t keep) { facts_.resize(keep); }

  // The canonical form of an i64 scalar, simplified by what is known.
  Affine ToAffine(const Expr& e) const;
  // Whether it can be shown. False means "not known".
  bool ProveNonNegative(const Affine& a) const;
  bool ProveLess(const Affine& a, const Affine& b) const {
    return ProveNonNegative(b - a - Affine(1));
  }
  // True or false where a comparison of i64, or what logic makes of such, is
  // decided.
  std::optional<bool> Decide(const Expr& condition) const;

 private:
  friend class Simplifier;
  struct Known {
    Interval interval;
    std::optional<Affine> lower, upper;  // symbolic, inclusive
    bool is_data = false;  // bound to a loaded value: arithmetic may overflow
  };
  const Known* Find(const Var* var) const;

  std::map<const Var*, Known> known_;
  std::vector<Affine> facts_;  // each is >= 0
  Interval unknown_;
};

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_ARITH_BOUNDS_H_
