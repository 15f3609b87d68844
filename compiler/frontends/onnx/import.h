// Reads ONNX models (IR versions 3 and up, operator sets 1 to 23) as relay
// modules.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_IMPORT_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_IMPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "artifact/blob.h"
#include "compiler/relay/ir.h"
#include "runtime/tensor.h"

namespace ingot {

struct ImportOptions {
  // Extents of inputs by name: all dimensions of each input that is listed. A
  // value of -1 leaves a dimension as the model has it.
  std::map<std::string, std::vector<int64_t>> input_shapes;
  // Inputs whose values are known now, by name: they become constants and are
  // no inputs of the module. For shapes, axes, modes and the like that a model
  // takes as inputs though they decide what is compiled.
  std::map<std::string, Tensor> fixed_inputs;
  // Values of the main graph that become outputs too, behind the model's own,
  // for looking at what lies in between. Those that are outputs already, and
  // those that the graph does not compute or that are no tensors, are left out.
  std::vector<std::string> extra_outputs;
  // The folder that holds the model, for tensors with data in other files.
  // Empty: models with such tensors are refused.
  std::string model_dir;
};

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

namespace onnx_frontend {
using ::ingot::ImportOnnx;
using ::ingot::ImportOptions;
}  // namespace onnx_frontend

}  // namespace ingot

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_IMPORT_H_
