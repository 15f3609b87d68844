// Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_MATMUL_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_MATMUL_H_

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/context.h"

namespace ingot::onnx_frontend {

// numpy's matmul: vectors stand for a row or a column, which the result drops.
absl::StatusOr<Value> MatmulAnyRank(NodeContext& c, Value a, Value b,
                                    Attrs attrs);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_MATMUL_H_
