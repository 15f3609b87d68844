// Products of matrices as libraries that follow BLAS compute them.
#ifndef INGOT_BACKENDS_GEMM_PRODUCT_H_
#define INGOT_BACKENDS_GEMM_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/ir.h"

namespace ingot::gemm {

// One factor. Where `transposed`, memory holds [columns, rows].
struct Factor {
  relay::Value value;
  bool transposed = false;
  // The distance to the next matrix, in elements, for each dimension of the
  // batch; 0 where the same one is used again.
  std::vector<int64_t> strides;
};

// result[batch…, m, n] = a[m, k] * b[k, n] + bias.
struct Product {
  Factor a, b;
  int64_t m = 0, n = 0, k = 0;
  std::vector<int64_t> batch;
  // Has the result's type, or is one row of n elements, as `bias_is_row` says.
  std::optional<relay::Value> bias;
  bool bias_is_row = false;
};

// Reads the operators of a composite, or a single one. Unimplemented says why
// it is none.
absl::StatusOr<Product> ReadProduct(const codegen::RegionCall& call);

}  // namespace ingot::gemm

#endif  // INGOT_BACKENDS_GEMM_PRODUCT_H_
