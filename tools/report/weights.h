// What a report says of weights.
#ifndef INGOT_TOOLS_REPORT_WEIGHTS_H_
#define INGOT_TOOLS_REPORT_WEIGHTS_H_

#include <string>

#include "nlohmann/json.hpp"
#include "runtime/tensor.h"

namespace ingot::report {

// {"n": name, "y": "f32[8, 3]", "b": bytes, "min", "max", "mean", "zeros": how
// many are 0, "hist": how many lie in each of 32 equal parts of [min, max]}.
// The numbers are left out where there are no elements, or one is no number or
// infinite ("odd": how many).
nlohmann::ordered_json DescribeWeight(const std::string& name,
                                      const Tensor& tensor);

}  // namespace ingot::report

#endif  // INGOT_TOOLS_REPORT_WEIGHTS_H_
