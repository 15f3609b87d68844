// Whether a computed tensor is what it should be.

#ifndef INGOT_TOOLS_INGOT_COMPARE_H_
#define INGOT_TOOLS_INGOT_COMPARE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/tensor.h"

namespace ingot {

// An element passes when |a-b| <= atol + rtol*|b|, or, with rtol_max, when
// |a-b| <= rtol_max * max|b| over the finite elements of its tensor. Of
// integers, which are not rounded, rtol bears nothing. NaN equals NaN only, and
// an infinity only itself.
struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-5;
  std::optional<double> rtol_max;
};

struct Comparison {
  int64_t elements = 0;
  int64_t mismatches = 0;
  // The largest difference over all elements, also those that pass; infinite
  // where one side is NaN or infinite and the other is not the same.
  double max_abs_err = 0;
  double max_rel_err = 0;  // |a-b|/|b|, where b is not 0
  double largest = 0;      // of the finite |b|
  bool is_rounded = true;  // the elements are floats, no integers
  // Says for people where types or shapes differ, or names the first element
  // that does not pass. Empty when all is well.
  std::string problem;

  bool ok() const { return problem.empty(); }
};

// Compares what was computed, `a`, with what should have been, `b`.
// Unimplemented for an element type that has no numbers.
absl::StatusOr<Comparison> Compare(const Tensor& a, const Tensor& b,
                                   const Tolerance& tolerance);

// "[0, 3, 17]": where element `flat` of a tensor of this shape is.
std::string IndexText(absl::Span<const int64_t> shape, int64_t flat);

// A digest of many numbers, for a person.
struct Summary {
  // NaN of a tensor without numbers.
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = min;
  double mean = min;
  int64_t nans = 0;   // not part of the above
  std::string first;  // the first few elements
};

absl::StatusOr<Summary> Summarize(const Tensor& tensor);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_COMPARE_H_
