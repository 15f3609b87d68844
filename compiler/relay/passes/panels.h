// Matrices in panels of some of their columns. Private to this folder.
#ifndef INGOT_COMPILER_RELAY_PASSES_PANELS_H_
#define INGOT_COMPILER_RELAY_PASSES_PANELS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/relay/ir.h"
#include "runtime/tensor.h"

namespace ingot::relay {

// w[k * row + n * column] as [ceil(columns / nr), rows, nr], zeros beyond.
absl::StatusOr<Tensor> Panels(const Tensor& w, int64_t rows, int64_t columns,
                              int64_t row, int64_t column, int64_t nr);

// Whether a product by a matrix, or by several, that is known at run time alone
// reads it so often that making panels of words pays. All extents are known.
bool PaysToPack(const Node& product);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_PANELS_H_
