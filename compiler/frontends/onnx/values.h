// The names that errors give to the values of an ONNX model.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_VALUES_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_VALUES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "artifact/blob.h"

namespace ingot {

struct OnnxValue {
  std::string name;
  // The node that computes it: "Conv conv1", its operator and own name.
  std::string node;
};

// The values that the nodes of a model's main graph compute, in the order of
// the nodes. InvalidArgument for bytes that are no model.
absl::StatusOr<std::vector<OnnxValue>> OnnxValues(const Blob& model);

}  // namespace ingot

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_VALUES_H_
