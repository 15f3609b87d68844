// The activation functions of recurrent layers. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_ACTIVATIONS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_ACTIVATIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/context.h"

namespace ingot::onnx_frontend {

// The activations of one direction.
struct Activations {
  std::vector<std::string> names;   // empty: the layer's usual ones
  std::vector<double> alpha, beta;  // for each of `names`; shorter: ONNX's

  // As attributes of a relay layer.
  void SetOn(Attrs* attrs) const;
};

// The attributes activations, activation_alpha and activation_beta of a node,
// `count` functions for each direction. Its values are one sequence over all
// directions, from which each function takes as many as it has parameters; a
// function after the last value has ONNX's defaults. That is how exporters
// write them and ONNX Runtime reads them.
absl::StatusOr<std::vector<Activations>> ReadActivations(NodeContext& c,
                                                         int count,
                                                         int directions);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_ACTIVATIONS_H_
