#include "tests/fuzz/op_samplers.h"

namespace ingot::fuzz {

const std::vector<OpSampler>& AllSamplers() {
  static const auto* const kSamplers = [] {
    auto* samplers = new std::vector<OpSampler>();
    AddElementSamplers(samplers);
    AddTensorSamplers(samplers);
    AddWindowSamplers(samplers);
    AddSpecialSamplers(samplers);
    AddPlainSampler(samplers);
    return samplers;
  }();
  return *kSamplers;
}

}  // namespace ingot::fuzz
