// Values of a model as ONNX Runtime computes them, each with how far rounding
// may move it.
#ifndef INGOT_TESTS_FUZZ_ONNX_EVALUATE_H_
#define INGOT_TESTS_FUZZ_ONNX_EVALUATE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "onnx/onnx.pb.h"
#include "runtime/tensor.h"
#include "tests/fuzz/random.h"

namespace ingot::fuzz {

// A value, and the same value as two other orders of rounding might give it:
// after each node its result is disturbed by many times the error that one
// node's arithmetic makes, and the nodes after it compute with the disturbed
// operands too. How far these disagree with the value bounds how far a correct
// compiler may, whatever the model does to its errors.
struct Estimated {
  Tensor value;
  std::vector<Tensor> disturbed;  // two, or none: the value has no error

  bool exact() const { return disturbed.empty(); }
  // The largest difference; infinity where a disturbed element of an integer
  // type differs, or one is finite and the other is not.
  double Error() const;
};

using Scope = std::map<std::string, Estimated>;

// Runs `nodes`, which are in order and of operator set `opset`, with ONNX
// Runtime as one model, and adds the results that are named in `wanted` to
// `scope`, which has their operands. An error leaves the scope as it is.
absl::Status EvaluateNodes(const std::vector<onnx::NodeProto>& nodes,
                           const std::vector<std::string>& wanted, int opset,
                           Random* random, Scope* scope);

// Evaluates a whole model of tensors, node by node, for the inputs. The scope
// then has every value. Nodes whose results are no tensors are run together
// with those that make tensors of them.
absl::StatusOr<Scope> EvaluateModel(const onnx::ModelProto& model,
                                    const std::map<std::string, Tensor>& inputs,
                                    uint64_t seed);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_EVALUATE_H_
