#ifndef INGOT_TOOLS_EXPORT_WASM_ES_MODULE_H_
#define INGOT_TOOLS_EXPORT_WASM_ES_MODULE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// Weights that lie in a file of their own and are written to where `symbol` is.
struct WeightsBeside {
  std::string symbol;
  uint64_t bytes = 0;
};

// A JavaScript module that loads and runs <prefix>.wasm: its `load`, and its
// `inputs` and `outputs` with names, types and shapes; open dimensions are
// text. `weights` is null where they are in the .wasm. InvalidArgument for
// tensors of a type that has no name.
absl::StatusOr<std::string> EsModule(const Plan& plan, absl::string_view prefix,
                                     const WeightsBeside* weights);

}  // namespace ingot

#endif  // INGOT_TOOLS_EXPORT_WASM_ES_MODULE_H_
