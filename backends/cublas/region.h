// A region as products of matrices, one after the other: the content of an
// artifact, which the code generator writes and the loader reads.
#ifndef INGOT_BACKENDS_CUBLAS_REGION_H_
#define INGOT_BACKENDS_CUBLAS_REGION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/library_calls/region.h"

namespace ingot::cublas {

// Some matrices of a value, row by row: the first at `offset`, the others
// `step` elements from one another; 0: one for all products.
struct Matrices {
  int64_t value = 0;
  int64_t offset = 0, step = 0;
};

// `count` products result[m, n] = left[m, k] * right[k, n] of f32.
struct Product {
  int64_t m = 0, n = 0, k = 0, count = 1;
  Matrices left, right, result;
  // Memory holds [k, m], or [n, k].
  bool left_transposed = false, right_transposed = false;
  int64_t bias = -1;   // a value: one row of n elements, added to all rows
  int64_t added = -1;  // a value of the result's shape, added to it
  bool relu = false;   // comes last
};

struct Region : library_calls::Region {
  std::vector<Product> products;
};

// As text: a line for each value and product.
std::string WriteRegion(const Region& region);

// Reads what may come from anywhere: sizes are positive, and every matrix lies
// within its value. InvalidArgument names the line.
absl::StatusOr<Region> ReadRegion(absl::string_view text);

}  // namespace ingot::cublas

#endif  // INGOT_BACKENDS_CUBLAS_REGION_H_
