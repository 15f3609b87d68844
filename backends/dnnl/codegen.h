// The target kind `dnnl`: regions of a model become graphs of oneDNN
// operators, one JSON file each, for the loader of the same name.
#ifndef INGOT_BACKENDS_DNNL_CODEGEN_H_
#define INGOT_BACKENDS_DNNL_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

// Errors: AlreadyExists.
absl::Status RegisterDnnlTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_DNNL_CODEGEN_H_
