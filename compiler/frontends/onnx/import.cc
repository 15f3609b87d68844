#include "compiler/frontends/onnx/import.h"

#include "base/status_macros.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/model/parse_model.h"
#include "onnx/onnx.pb.h"

namespace ingot {

absl::StatusOr<relay::Module> ImportOnnx(const Blob& model,
                                         const ImportOptions& options) {
  INGOT_ASSIGN_OR_RETURN(onnx::ModelProto proto,
                         onnx_frontend::ParseModel(model));
  return onnx_frontend::Importer(&proto, options,
                                 onnx_frontend::AllConverters())
      .Run();
}

}  // namespace ingot
