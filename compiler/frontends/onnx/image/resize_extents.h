// The extents that Resize and Upsample ask for.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_IMAGE_RESIZE_EXTENTS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_IMAGE_RESIZE_EXTENTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontends/onnx/graph/context.h"

namespace ingot::onnx_frontend {

struct Extents {
  Shape sizes;
  // One a dimension, or none where the sizes tell them.
  std::vector<double> scales;
  // The same as f32[rank] where only a run knows them; else null.
  Value scale_operand;
};

// The axes that are resized, in the order of what is given for them.
absl::StatusOr<std::vector<int64_t>> ResizedAxes(NodeContext& c, int rank);

// Reads the node's operands (of each version: scales alone, or roi, scales and
// sizes) for an `in` of these dimensions. Extents that depend on what only a
// run knows are symbols that it binds.
absl::StatusOr<Extents> ReadExtents(NodeContext& c, const Shape& in,
                                    const std::vector<int64_t>& axes);

// Values that a run tells for some axes, in their order and perhaps in several
// groups one after the other, as f32[groups * rank]: those of the axes, and
// `otherwise`, one a group, for all other dimensions. InvalidArgument, naming
// `what` they are, where there are not as many.
absl::StatusOr<Value> SpreadOverDimensions(NodeContext& c, const Value& values,
                                           const std::vector<float>& otherwise,
                                           const std::vector<int64_t>& axes,
                                           int rank, absl::string_view what);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_IMAGE_RESIZE_EXTENTS_H_
