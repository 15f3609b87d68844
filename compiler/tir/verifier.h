#ifndef INGOT_COMPILER_TIR_VERIFIER_H_
#define INGOT_COMPILER_TIR_VERIFIER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "compiler/tir/ir.h"

namespace ingot::tir {

// The bytes that all stack buffers that are live at once may take. Kernels run
// on threads whose stacks we do not choose.
constexpr int64_t kMaxStackBytes = 256 * 1024;

// Checks what a function must keep to, beyond what the builder asserts:
//  * types, lanes and the number of indices of every node;
//  * every variable and buffer is defined where it is used, and bound once;
//  * each symbolic dimension stands alone as a dimension of an input or output;
//  * inputs and parts of them are not written, and stack buffers have no parts;
//  * vectorized and unrolled loops have constant extents, from 1 on (vectorized
//    ones to kMaxLanes), and a vectorized loop holds scalar code and no
//    parallel or vectorized loop; parallel loops do not nest;
//  * other code is not called, and nothing asserted, inside of parallel and
//    vectorized loops;
//  * a parallel loop does not store to a stack buffer from outside;
//  * block loops are parallel loops; thread loops are inside of one, begin at
//  0,
//    have constant extents and do not nest; in a block only they store, and
//    only outside of them shared buffers and registers are allocated;
//  * stack buffers have constant sizes, within kMaxStackBytes; the sizes of
//    workspaces depend on symbolic dimensions only, and they are not allocated
//    inside parallel loops, whose threads would share them.
// Returns Ok, or Internal that names the function and the first statement that
// is wrong (InvalidArgument would blame the user: only text that a person wrote
// can be at fault, and whoever reads it converts). Thread-safe.
absl::Status Verify(const PrimFunc& func);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_VERIFIER_H_
