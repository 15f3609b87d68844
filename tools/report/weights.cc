#include "tools/report/weights.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "loaders/inspectors/tensor_values.h"

namespace ingot::report {

nlohmann::ordered_json DescribeWeight(const std::string& name,
                                      const Tensor& tensor) {
  constexpr int kParts = 32;
  nlohmann::ordered_json weight = {
      {"n", name}, {"y", tensor.TypeString()}, {"b", tensor.bytes()}};
  double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0;
  int64_t zeros = 0, odd = 0;
  ForEachValue(tensor, [&](double value) {
    odd += !std::isfinite(value);
    zeros += value == 0;
    min = std::min(min, value);
    max = std::max(max, value);
    sum += value;
  });
  if (odd > 0) weight["odd"] = odd;
  if (odd > 0 || tensor.NumElements() == 0) return weight;
  weight["min"] = min;
  weight["max"] = max;
  weight["mean"] = sum / static_cast<double>(tensor.NumElements());
  weight["zeros"] = zeros;
  std::vector<int64_t> parts(kParts);
  const double scale = max > min ? kParts / (max - min) : 0;
  ForEachValue(tensor, [&](double value) {
    const int part = static_cast<int>((value - min) * scale);
    ++parts[std::clamp(part, 0, kParts - 1)];
  });
  weight["hist"] = std::move(parts);
  return weight;
}

}  // namespace ingot::report
