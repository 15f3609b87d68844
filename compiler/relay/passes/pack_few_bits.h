// Products with constant matrices of few bits, on data that may be rounded to
// bytes. Private to this folder.
#ifndef INGOT_COMPILER_RELAY_PASSES_PACK_FEW_BITS_H_
#define INGOT_COMPILER_RELAY_PASSES_PACK_FEW_BITS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/relay/ir.h"

namespace ingot::relay {

// What stands for the result of `node`, a product by a matrix of few bits: its
// data rounded to bytes, times the matrix in panels of so many columns, which
// keeps the matrix's name, with that attribute tile_rows. Nodes are added at
// the end of the function. No value where the node's data or matrix is not fit
// for it.
absl::StatusOr<Value> PackFewBitsProduct(Function* function, const Node& node,
                                         int64_t columns, int64_t tile_rows);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_PACK_FEW_BITS_H_
