// One side of a box of elements, in terms of variables.
#ifndef INGOT_COMPILER_TE_SIDE_H_
#define INGOT_COMPILER_TE_SIDE_H_

#include <map>
#include <optional>

#include "compiler/tir/arith/affine.h"
#include "compiler/tir/arith/bounds.h"
#include "compiler/tir/ir.h"

namespace ingot::te {

using tir::Affine;
using tir::Bounds;
using tir::Expr;

// The values in [min, min + extent).
struct Side {
  Affine min;
  Affine extent;
  // Some value of the side may not be taken: callers that compute all of it
  // must check bounds.
  bool inexact = false;
};

using Box = std::map<const tir::Var*, Side>;

// The values that the i64 expression `e` takes while each variable in `box`
// takes those of its side. Nothing when no bound is known.
std::optional<Side> SideOf(const Expr& e, const Box& box, const Bounds& bounds);

// The variable if `a` is a multiple of it and nothing else; otherwise null.
const tir::Var* SingleVar(const Affine& a);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_SIDE_H_
