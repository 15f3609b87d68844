// Private to this folder: real factors as CMSIS-NN takes them.
#ifndef INGOT_BACKENDS_CMSIS_NN_FIXED_POINT_H_
#define INGOT_BACKENDS_CMSIS_NN_FIXED_POINT_H_

#include <cstdint>

namespace ingot::cmsis_nn {

// multiplier * 2^(shift - 31), with a multiplier in [2^30, 2^31), or 0.
struct FixedPoint {
  int32_t multiplier = 0;
  int32_t shift = 0;
};

// The nearest to `factor`, which is not negative and less than 2^30. Factors
// less than 2^-32 are 0.
FixedPoint ToFixedPoint(double factor);

// Says how arm_softmax_s8 scales differences of elements before it takes e to
// them: as multiples of 2^-26, of which `shift` is how far they are moved to
// the left. Elements that are less than the largest one by more than
// -smallest_difference become 0.
struct SoftmaxScale {
  FixedPoint factor;
  int32_t smallest_difference = 0;
};
SoftmaxScale ToSoftmaxScale(double scale);

}  // namespace ingot::cmsis_nn

#endif  // INGOT_BACKENDS_CMSIS_NN_FIXED_POINT_H_
