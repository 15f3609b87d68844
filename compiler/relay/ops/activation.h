// ONNX's named activations of recurrent layers. Internal to
// compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_ACTIVATION_H_
#define INGOT_COMPILER_RELAY_OPS_ACTIVATION_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "compiler/tir/ir.h"

namespace ingot::relay::ops {

// Whether ONNX has an activation of that name (in any case of letters).
bool IsActivation(absl::string_view name);

// f(x), with ONNX's defaults for a parameter left out. The name is known.
tir::Expr Activation(absl::string_view name, const tir::Expr& x,
                     std::optional<double> alpha, std::optional<double> beta);

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_ACTIVATION_H_
