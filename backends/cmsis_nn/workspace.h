// Private to this folder: how much workspace CMSIS-NN's functions ask for. The
// library has functions for that, but they know the processor that they were
// compiled for; these know the one that a model is compiled for.
#ifndef INGOT_BACKENDS_CMSIS_NN_WORKSPACE_H_
#define INGOT_BACKENDS_CMSIS_NN_WORKSPACE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/cmsis_nn/layer.h"

namespace ingot::cmsis_nn {

// Names the implementation of the library that a processor runs: plain C, with
// the DSP extension, or with vectors (MVE, which Arm calls Helium).
enum class Extension { kNone, kDsp, kMve };

// InvalidArgument lists the processors.
absl::StatusOr<Extension> ExtensionOf(absl::string_view cpu);

// In bytes; what the library asks for with any compiler.
int64_t WorkspaceBytes(const Layer& layer, Extension extension);

}  // namespace ingot::cmsis_nn

#endif  // INGOT_BACKENDS_CMSIS_NN_WORKSPACE_H_
