#ifndef INGOT_COMPILER_FRONTENDS_ONNX_MODEL_VALUES_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_MODEL_VALUES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "artifact/blob.h"
#include "compiler/frontends/frontend.h"

namespace ingot {

// The values that the nodes of a model's main graph compute, in the order of
// the nodes. InvalidArgument for bytes that are no model.
absl::StatusOr<std::vector<ModelValue>> OnnxValues(const Blob& model);

}  // namespace ingot

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_MODEL_VALUES_H_
