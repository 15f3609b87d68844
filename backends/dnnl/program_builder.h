// From a graph to a program: primitives are chosen, weights laid out for them,
// and buffers placed.
#ifndef INGOT_BACKENDS_DNNL_PROGRAM_BUILDER_H_
#define INGOT_BACKENDS_DNNL_PROGRAM_BUILDER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/dnnl/graph.h"
#include "backends/dnnl/program.h"
#include "backends/dnnl/weights.h"

namespace ingot::dnnl_backend {

// Whether the constants that `graph` names are there and fit. NotFound or
// InvalidArgument names the constant.
absl::Status CheckConstants(const Graph& graph, const Weights& weights);

// `graph` and its constants are checked. The program refers to memory of
// `weights`, which must outlive it. Unimplemented or InvalidArgument names the
// node that oneDNN refuses, ResourceExhausted means no memory.
absl::StatusOr<std::unique_ptr<Program>> BuildProgram(
    const Graph& graph, const dnnl::engine& engine, int threads,
    Weights* weights);

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_PROGRAM_BUILDER_H_
