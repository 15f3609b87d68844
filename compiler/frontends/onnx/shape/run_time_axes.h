// Operators on axes that only a run knows. How many they are, importing must
// know. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_SHAPE_RUN_TIME_AXES_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_SHAPE_RUN_TIME_AXES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontends/onnx/graph/compose.h"

namespace ingot::onnx_frontend {

// Axes of a tensor of `rank` dimensions. A run fails where one is outside of
// them or given twice.
class RunTimeAxes {
 public:
  static absl::StatusOr<RunTimeAxes> Of(Compose& k, Value axes, int rank);

  int64_t count() const { return count_; }
  // i64[rank]: 1 for the dimensions that are axes, 0 for the others.
  Value listed() const { return listed_; }
  // i64[rank]: `values`, which are in the order of the axes, at these, and
  // `otherwise` at the other dimensions.
  Value Spread(Compose& k, Value values, Value otherwise) const;
  // `sizes`, i64[n], as dimensions.
  absl::StatusOr<Shape> Bind(Compose& k, Value sizes,
                             absl::string_view what) const;

 private:
  int64_t count_ = 0;
  Value at_;      // i64[rank, count]: 1 where the axis is the dimension
  Value listed_;  // a sum of these
  Value valid_;   // bool[1]
};

// x without its dimensions at axes of operand i, all of them 1; with dimensions
// of 1 there.
absl::StatusOr<Value> SqueezeAtRunTime(NodeContext& c, Value x, int i);
absl::StatusOr<Value> UnsqueezeAtRunTime(NodeContext& c, Value x, int i);
// The reduction `op`, which has an attribute `axes`, along axes of operand i.
absl::StatusOr<Value> ReduceAtRunTime(NodeContext& c, absl::string_view op,
                                      Value x, int i, bool keepdims);
// x[start:end:step] along axes; operands 1 to 4 say which, as those of Slice.
absl::StatusOr<Value> SliceAtRunTime(NodeContext& c, Value x);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_SHAPE_RUN_TIME_AXES_H_
