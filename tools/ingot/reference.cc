#include "tools/ingot/reference.h"

#include <string>

#include "artifact/blob.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/passes/evaluate.h"

namespace ingot {

absl::StatusOr<std::vector<TensorOrList>> EvaluateReference(
    absl::string_view path, absl::Span<const TensorOrList> inputs,
    const InputShapes& shapes, Progress* progress) {
  progress->Update("importing the reference", 0);
  absl::StatusOr<Blob> bytes = Blob::MapFile(path);
  if (!bytes.ok()) return bytes.status();
  onnx_frontend::ImportOptions options;
  options.input_shapes = shapes;
  const size_t slash = path.rfind('/');
  options.model_dir = std::string(
      slash == absl::string_view::npos ? "." : path.substr(0, slash));
  absl::StatusOr<relay::Module> module =
      onnx_frontend::ImportOnnx(*bytes, options);
  if (!module.ok()) return module.status();
  progress->Update("interpreting the reference", 0.1);
  return relay::EvaluateFunctionOnLists(*module, *module->main(), inputs);
}

}  // namespace ingot
