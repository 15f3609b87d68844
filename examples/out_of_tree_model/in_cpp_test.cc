#include <cmath>
#include <numeric>

#include "softmax.h"

int main() {
  static float x[SOFTMAX_IN_0_ELEMENTS], y[SOFTMAX_OUT_1_ELEMENTS];
  alignas(SOFTMAX_ARENA_ALIGNMENT) static char arena[SOFTMAX_ARENA_BYTES];
  if (softmax_run(x, y, arena) != 0) return 1;
  const float sum = std::accumulate(y, y + SOFTMAX_OUT_1_ELEMENTS, 0.0f);
  return std::abs(sum - 10) > 1e-4;  // of ten rows, each a distribution
}
