// Resampling by products with matrices made at compile time. Internal to the
// ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_IMAGE_RESAMPLE_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_IMAGE_RESAMPLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/context.h"

namespace ingot::onnx_frontend {

// How one dimension is resampled with a filter that widens where the result is
// smaller (Resize with antialias=1).
struct Filter {
  bool cubic = false;  // else linear
  double cubic_a = -0.75;
  bool exclude_outside = false;
  std::string coordinates = "half_pixel";
};

// The weights of `in` elements in each of `out`: [out * in], row by row.
// `scale` is the enlargement, which may differ a little from out / in.
// Unimplemented for coordinates that need more than these.
absl::StatusOr<std::vector<double>> FilterWeights(const Filter& filter,
                                                  int64_t in, int64_t out,
                                                  double scale);

// x with every dimension whose size changes resampled. All its dimensions and
// `sizes` must be constants.
absl::StatusOr<Value> ResampleAntialiased(NodeContext& c, Value x,
                                          const Filter& filter,
                                          const std::vector<int64_t>& sizes,
                                          const std::vector<double>& scales);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_IMAGE_RESAMPLE_H_
