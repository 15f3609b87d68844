#include "compiler/frontends/onnx/import.h"

#include "base/status_macros.h"
#include "compiler/frontends/onnx/custom.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/model/parse_model.h"
#include "onnx/onnx.pb.h"

namespace ingot {

absl::StatusOr<relay::Module> ImportOnnx(const Blob& model,
                                         const ImportOptions& options) {
  INGOT_ASSIGN_OR_RETURN(onnx::ModelProto proto,
                         onnx_frontend::ParseModel(model));
  const onnx_frontend::ConverterTable* converters =
      &onnx_frontend::AllConverters();
  onnx_frontend::ConverterTable with_custom;
  if (!options.custom_operators.empty()) {
    with_custom = *converters;
    converters = &with_custom;
  }
  for (const CustomOperator& custom : options.custom_operators) {
    with_custom.Add(custom.name, 1, onnx_frontend::CustomConverter(custom),
                    custom.domain);
  }
  return onnx_frontend::Importer(&proto, options, *converters).Run();
}

}  // namespace ingot
