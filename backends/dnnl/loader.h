// The loader `dnnl`: graphs of oneDNN operators to functions.
#ifndef INGOT_BACKENDS_DNNL_LOADER_H_
#define INGOT_BACKENDS_DNNL_LOADER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "artifact/artifact.h"
#include "loaders/loader_registry.h"
#include "runtime/module.h"

namespace ingot {

// Makes a module with one function for each artifact of `group`, each one graph
// (graph.h), named by its symbol. Primitives are chosen and weights laid out
// now, for runs on context.threads threads, and context.on_work is told; once
// more for each other number of threads, in the first run that has it. A
// function takes the graph's inputs, then its outputs. It may be called from
// several threads at once. Errors name the artifact. InvalidArgument: a graph
// that makes no sense; NotFound: a constant that context.constants lacks;
// Unimplemented: what oneDNN cannot do here; AlreadyExists: two graphs of one
// symbol.
absl::StatusOr<std::shared_ptr<Module>> LoadBinaryDnnl(
    absl::Span<const Artifact> group, LoadContext& context);

// Errors: AlreadyExists.
absl::Status RegisterDnnlLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_DNNL_LOADER_H_
