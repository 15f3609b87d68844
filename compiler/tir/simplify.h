#ifndef INGOT_COMPILER_TIR_SIMPLIFY_H_
#define INGOT_COMPILER_TIR_SIMPLIFY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/tir/affine.h"
#include "compiler/tir/ir.h"

namespace ingot::tir {

// What is known about i64 variables. A value type; it keeps the expressions it
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
  // min <= var < min + extent, also where these are not constants.
  void SetLoop(const Var* var, const Expr& min, const Expr& extent);
  // What is known of `value` is known of var.
  void SetValue(const Var* var, const Expr& value);
  void Forget(const Var* var);

  // Takes a bool expression to be true: comparisons of i64, alone or joined by
  // kAnd; the rest is ignored. Facts are a stack.
  void PushFact(const Expr& condition);
  // Takes it to be false.
  void PushFactNot(const Expr& condition);
  size_t num_facts() const { return facts_.size(); }
  void PopFacts(size_t keep) { facts_.resize(keep); }

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

// An equal expression, usually smaller: the same pointer where nothing could
// be done. i64 scalars take a canonical form (a sum of products sorted by
// variable, constant last), so two equal affine expressions of the same
// variables simplify to structurally equal ones. Quotients and remainders by a
// constant split off their multiples: (i*8 + j) // 8 is i when 0 <= j < 8 is
// known. Minimum, maximum and comparisons that the bounds decide are decided.
// i64 arithmetic that involves no load is taken not to overflow, and nothing to
// be divided by 0. Other types
// get constant folding only. Thread-safe; linear in practice.
Expr Simplify(const Expr& e, const Bounds* bounds = nullptr);

// Also tracks the bounds of the loops inside, takes the conditions of ifs as
// facts, decides ifs, and removes loops of one or no trip, lets of constants
// and variables, and statements without effect. Moves nothing out of loops.
Stmt Simplify(const Stmt& s, const Bounds* bounds = nullptr);

// The body, with all that is not bound inside, the symbolic dimensions of the
// parameters, at least 0.
PrimFunc Simplify(const PrimFunc& func);

// Structural equality: the same variables, buffers and bits of constants. Also
// accepts nulls.
bool Equal(const Expr& a, const Expr& b);

// Whether it can be shown. False means "not known".
bool ProveEqual(const Expr& a, const Expr& b, const Bounds* bounds = nullptr);
bool Prove(const Expr& condition, const Bounds* bounds = nullptr);

// A constant that the i64 expression never exceeds, or never falls below.
std::optional<int64_t> ConstUpperBound(const Expr& e,
                                       const Bounds* bounds = nullptr);
std::optional<int64_t> ConstLowerBound(const Expr& e,
                                       const Bounds* bounds = nullptr);

// The variables in the shapes of the parameters, in order of appearance.
std::vector<const Var*> SymbolicDims(const PrimFunc& func);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_SIMPLIFY_H_
