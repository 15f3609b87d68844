#ifndef INGOT_COMPILER_TIR_ARITH_SIMPLIFY_H_
#define INGOT_COMPILER_TIR_ARITH_SIMPLIFY_H_

#include <cstdint>
#include <optional>

#include "compiler/tir/arith/affine.h"
#include "compiler/tir/arith/bounds.h"
#include "compiler/tir/arith/compare.h"
#include "compiler/tir/ir.h"

namespace ingot::tir {

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

// The canonical form of an i64 scalar of whose variables nothing is known.
Affine ToAffine(const Expr& e);

// Also tracks the bounds of the loops inside, takes the conditions of ifs as
// facts, decides ifs, and removes loops of one or no iteration, lets of
// constants and variables, and statements without effect. Moves nothing out of
// loops.
Stmt Simplify(const Stmt& s, const Bounds* bounds = nullptr);

// The body, with all that is not bound inside, the symbolic dimensions of the
// parameters, at least 0.
PrimFunc Simplify(const PrimFunc& func);

// Whether it can be shown. False means "not known".
bool ProveEqual(const Expr& a, const Expr& b, const Bounds* bounds = nullptr);
bool Prove(const Expr& condition, const Bounds* bounds = nullptr);

// A constant that the i64 expression never exceeds, or never falls below.
std::optional<int64_t> ConstUpperBound(const Expr& e,
                                       const Bounds* bounds = nullptr);
std::optional<int64_t> ConstLowerBound(const Expr& e,
                                       const Bounds* bounds = nullptr);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_ARITH_SIMPLIFY_H_
