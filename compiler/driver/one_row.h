// Kernels that have loops of their own for products of one row.
#ifndef INGOT_COMPILER_DRIVER_ONE_ROW_H_
#define INGOT_COMPILER_DRIVER_ONE_ROW_H_

#include <vector>

#include "compiler/te/te.h"
#include "compiler/tir/ir.h"

namespace ingot {

// The symbols that decide how many rows the products of a kernel have, such as
// the number of words that a language model reads in a run: many at first, and
// then one after the other. Empty where no product has such rows, one where all
// symbols are 1, or where these cannot be.
std::vector<const tir::Var*> RowSymbols(const te::Graph& graph);

// One function of two with the same parameters but for workspaces, of which it
// has all: it does what `one` does where all of the symbols are 1, and what
// `any` does otherwise. Each symbol must stand alone as a dimension of a
// parameter of `any`; in `one` it may be gone.
tir::PrimFunc ChooseByRows(const std::vector<const tir::Var*>& symbols,
                           const tir::PrimFunc& one, const tir::PrimFunc& any);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_ONE_ROW_H_
