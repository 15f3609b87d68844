// Reads ONNX models (IR versions 3 and up, operator sets 1 to 23) as relay
// modules.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_IMPORT_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_IMPORT_H_

#include "absl/status/statusor.h"
#include "artifact/blob.h"
#include "compiler/frontends/frontend.h"
#include "compiler/relay/ir.h"

namespace ingot {

// The model as a module whose function "main" has the model's inputs (without
// initialisers) and outputs, by name. Dimensions without a value become
// symbols, named as in the model; equal names are equal dimensions. Shapes
// that the model computes are followed, so that reshapes and the like need no
// computing at run time.
//
// The bytes may be hostile. InvalidArgument says what is wrong and names the
// node; Unimplemented names each operator that is not supported.
absl::StatusOr<relay::Module> ImportOnnx(const Blob& model,
                                         const ImportOptions& options = {});

}  // namespace ingot

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_IMPORT_H_
