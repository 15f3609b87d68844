// Resampling with a filter that widens where the result is smaller. Internal to
// the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_IMAGE_RESAMPLE_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_IMAGE_RESAMPLE_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/context.h"
#include "compiler/frontends/onnx/image/resize_extents.h"

namespace ingot::onnx_frontend {

// The filter that resamples one dimension (Resize with antialias=1).
struct Filter {
  bool cubic = false;  // else linear
  double cubic_a = -0.75;
  bool exclude_outside = false;
  std::string coordinates = "half_pixel";
};

// x with every dimension whose size changes resampled, one after the other.
// Unimplemented for coordinates that need more than these.
absl::StatusOr<Value> ResampleAntialiased(NodeContext& c, Value x,
                                          const Filter& filter,
                                          const Extents& extents);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_IMAGE_RESAMPLE_H_
