#include "compiler/frontends/onnx/operators.h"

#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot {

int NewestOnnxOpset() { return onnx_frontend::kNewestOpset; }

std::vector<OnnxOperator> ImportedOperators() {
  std::vector<OnnxOperator> operators;
  for (const auto& [name, since] : onnx_frontend::AllConverters().Since()) {
    operators.push_back({name.first, name.second, since});
  }
  return operators;
}

}  // namespace ingot
