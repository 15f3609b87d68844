// A model by ONNX Runtime and compiled, for tests of single operators.
#ifndef INGOT_TESTS_ONNXRUNTIME_EXPECT_SAME_H_
#define INGOT_TESTS_ONNXRUNTIME_EXPECT_SAME_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "artifact/blob.h"
#include "runtime/tensor.h"

namespace ingot::onnxruntime {

// Runs the model with inputs of these names in ONNX Runtime. Fails the test and
// returns nothing on an error.
std::vector<Tensor> OutputsOf(const Blob& model,
                              absl::Span<const std::string> names,
                              absl::Span<const Tensor> inputs,
                              absl::Span<const std::string> outputs);

// Expects that the model, compiled for this machine, makes these floats of its
// inputs, each within `tolerance` of the expected one or of its size.
void ExpectCompiled(const Blob& model, const std::vector<Tensor>& inputs,
                    absl::Span<const Tensor> expected, float tolerance);

}  // namespace ingot::onnxruntime

#endif  // INGOT_TESTS_ONNXRUNTIME_EXPECT_SAME_H_
