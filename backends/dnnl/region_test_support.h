// For tests: a region from relay's text through codegen and loader, beside what
// relay says that it means.
#ifndef INGOT_BACKENDS_DNNL_REGION_TEST_SUPPORT_H_
#define INGOT_BACKENDS_DNNL_REGION_TEST_SUPPORT_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/dnnl/graph.h"
#include "compiler/relay/ir.h"
#include "compiler/target/target.h"
#include "runtime/function.h"
#include "runtime/module.h"
#include "runtime/tensor.h"

namespace ingot::dnnl_backend {

// The registered target kind.
const TargetKind& DnnlKind();

// A region whose function has been loaded. Other functions of the module are
// its composites.
struct LoadedRegion {
  std::unique_ptr<relay::Module> module;
  std::string json;
  std::shared_ptr<Module> loaded;
  Function function;
};

// Makes the function main of the module a region, every constant with its own
// name as key, and loads what codegen makes of it.
absl::StatusOr<LoadedRegion> LoadRegionText(absl::string_view text);

// Tensors for the inputs of `function`, with elements in [low, high).
std::vector<Tensor> RandomInputs(const relay::Function& function, float low,
                                 float high, uint32_t seed = 1);

// Calls with `inputs` and new tensors for the outputs of `function`.
absl::StatusOr<std::vector<Tensor>> CallRegion(const Function& callee,
                                               const relay::Function& function,
                                               absl::Span<const Tensor> inputs);

// Reports a failure unless the region computes what relay::EvaluateFunction
// does, up to `tolerance` relative to the largest element of each output.
// Returns the graph that was written.
Graph ExpectRegionMeans(absl::string_view text, float low = -1, float high = 1,
                        double tolerance = 1e-5);

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_REGION_TEST_SUPPORT_H_
