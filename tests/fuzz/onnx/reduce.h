// Shrinks a model that fails.
#ifndef INGOT_TESTS_FUZZ_ONNX_REDUCE_H_
#define INGOT_TESTS_FUZZ_ONNX_REDUCE_H_

#include <string>

#include "tests/fuzz/onnx/check_model.h"

namespace ingot::fuzz {

// The smallest model that still fails in this way, found by leaving out nodes
// one at a time: what other nodes read of them becomes an input with the value
// that ONNX Runtime computes. The model itself when it does not fail.
OnnxModel Reduce(const OnnxModel& model, const Way& way,
                 const std::string& folder);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_REDUCE_H_
