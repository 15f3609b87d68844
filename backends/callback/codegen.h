// Targets whose operators are computed by C++ functions of the program that
// compiles the model. Their artifacts hold live objects: a model with them runs
// in this process, and no set with one can be exported.
#ifndef INGOT_BACKENDS_CALLBACK_CODEGEN_H_
#define INGOT_BACKENDS_CALLBACK_CODEGEN_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compiler/relay/ir.h"
#include "compiler/target/target.h"
#include "runtime/tensor.h"

namespace ingot {

// Computes one call of an operator: reads `operands`, an undefined tensor where
// an optional one is left out, and writes `results`, which have their types.
// All are dense and in memory of the CPU, valid until it returns. It may be
// called from several threads at once. An error ends the run.
using OperatorCallback = std::function<absl::Status(
    const relay::Attrs& attrs, absl::Span<const Tensor> operands,
    absl::Span<Tensor> results)>;

// A target kind that takes the operators in `callbacks`, by relay's names,
// where all shapes are known, and calls them one after the other. Its artifacts
// name the loader `callback` (loader.h).
TargetKind MakeCallbackTarget(
    std::string name, std::map<std::string, OperatorCallback> callbacks);

}  // namespace ingot

#endif  // INGOT_BACKENDS_CALLBACK_CODEGEN_H_
