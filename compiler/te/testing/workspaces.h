// For tests: what a kernel keeps in its workspaces.
#ifndef INGOT_COMPILER_TE_TESTING_WORKSPACES_H_
#define INGOT_COMPILER_TE_TESTING_WORKSPACES_H_

#include <vector>

#include "compiler/tir/ir.h"

namespace ingot::te {

// The workspaces of `func` that hold results of reductions, or elements that
// are computed from such results. Where the element-wise operators after a
// convolution or a product read one of these, they are a second pass over
// memory. Copies of operands, such as padded ones, are not among them.
std::vector<tir::Buffer> WorkspacesOfSums(const tir::PrimFunc& func);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_TESTING_WORKSPACES_H_
