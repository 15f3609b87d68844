// A region as convolutions, one after the other: the content of an artifact,
// which the code generator writes and the loader reads.
#ifndef INGOT_BACKENDS_CUDNN_REGION_H_
#define INGOT_BACKENDS_CUDNN_REGION_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/library_calls/region.h"

namespace ingot::cudnn {

// A value of four dimensions.
struct Operand {
  int64_t value = 0;
  std::array<int64_t, 4> shape = {1, 1, 1, 1};

  int64_t elements() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
};

// A convolution of f32, NCHW by OIHW, and what comes after it.
struct Convolution {
  Operand data, kernel, result;
  // Along height and width; pads are the same before and after.
  std::array<int64_t, 2> strides = {1, 1}, pads = {0, 0}, dilations = {1, 1};
  int64_t groups = 1;
  int64_t bias = -1;   // a value: one element for each channel of the result
  int64_t added = -1;  // a value of the result's shape; only with a bias
  bool relu = false;   // comes last; only with a bias
};

struct Region : library_calls::Region {
  std::vector<Convolution> convolutions;
};

// The result's shape that the other fields make; zeros where they make none.
std::array<int64_t, 4> ResultShape(const Convolution& convolution);

// As text: a line for each value and convolution.
std::string WriteRegion(const Region& region);

// Reads what may come from anywhere: operands have the sizes of their values,
// and the result's are those that the others make. InvalidArgument names the
// line.
absl::StatusOr<Region> ReadRegion(absl::string_view text);

}  // namespace ingot::cudnn

#endif  // INGOT_BACKENDS_CUDNN_REGION_H_
