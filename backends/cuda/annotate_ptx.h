// Comments in PTX. Private to this folder.
#ifndef INGOT_BACKENDS_CUDA_ANNOTATE_PTX_H_
#define INGOT_BACKENDS_CUDA_ANNOTATE_PTX_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/codegen/llvm/device.h"

namespace ingot::cuda {

// The text with a comment before each kernel: the nodes of the model that it is
// for, what its parameters are, and its loops.
std::string AnnotatePtx(absl::Span<const codegen::DeviceFunction> functions,
                        absl::string_view ptx);

}  // namespace ingot::cuda

#endif  // INGOT_BACKENDS_CUDA_ANNOTATE_PTX_H_
