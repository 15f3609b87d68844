#include "compiler/codegen/main_tensors.h"

#include <utility>

namespace ingot::codegen {

std::vector<bool> GivenToMain(const tir::PrimFunc& func,
                              const MainFunction& main) {
  std::vector<bool> given(func.params.size(), true);
  if (!main.constants.empty()) given[func.num_inputs() - 1] = false;
  if (main.has_arena) given.back() = false;
  return given;
}

std::vector<MainTensor> TensorsOfMain(const tir::PrimFunc& func,
                                      const MainFunction& main) {
  std::vector<MainTensor> tensors;
  const auto add = [&](const std::string& name, const tir::BufferNode& buffer) {
    MainTensor tensor = {name, buffer.dtype, {}};
    for (const tir::Expr& dim : buffer.shape) {
      int64_t value = 0;
      tensor.shape.push_back(tir::AsConstInt(dim, &value) ? value : -1);
    }
    tensors.push_back(std::move(tensor));
  };
  for (size_t i = 0; i < main.inputs.size(); ++i) {
    add(main.inputs[i], *func.params[i]);
  }
  for (size_t i = 0; i < main.outputs.size(); ++i) {
    add(main.outputs[i], *func.params[func.num_inputs() + i]);
  }
  return tensors;
}

}  // namespace ingot::codegen
