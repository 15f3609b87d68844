// A model by ONNX Runtime and compiled, for tests of single operators.
#ifndef INGOT_TESTS_ONNXRUNTIME_EXPECT_SAME_H_
#define INGOT_TESTS_ONNXRUNTIME_EXPECT_SAME_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "artifact/blob.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "runtime/tensor.h"

namespace ingot::onnxruntime {

// Runs the model with inputs of these names in ONNX Runtime. Fails the test and
// returns nothing on an error.
std::vector<Tensor> OutputsOf(const Blob& model,
                              absl::Span<const std::string> names,
                              absl::Span<const Tensor> inputs,
                              absl::Span<const std::string> outputs);

// How far results may be from ONNX Runtime's: floats by so much, or by so much
// of their size; integers by so many.
struct Room {
  float floats = 1e-4f;
  int64_t integers = 0;
};

// Expects that the model, compiled for this machine, makes these tensors of its
// inputs.
void ExpectCompiled(const Blob& model, const std::vector<Tensor>& inputs,
                    absl::Span<const Tensor> expected, const Room& room);

// Expects that a node gives what ONNX Runtime gives, where the shapes of its
// inputs are known, and where none are: `symbolic` says whether it has to be
// taken then.
void ExpectSame(const onnx_frontend::Operator& op,
                const std::vector<onnx_frontend::Operand>& operands,
                const Room& room = {}, bool symbolic = true);

}  // namespace ingot::onnxruntime

#endif  // INGOT_TESTS_ONNXRUNTIME_EXPECT_SAME_H_
