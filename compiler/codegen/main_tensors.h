// The model's function (main_function.h) as code generators offer it to
// callers.
#ifndef INGOT_COMPILER_CODEGEN_MAIN_TENSORS_H_
#define INGOT_COMPILER_CODEGEN_MAIN_TENSORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/target/main_function.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// Which parameters callers give: all but the constants and the arena.
std::vector<bool> GivenToMain(const tir::PrimFunc& func,
                              const MainFunction& main);

// An input or an output, as IngotTensorInfo describes it.
struct MainTensor {
  std::string name;
  DataType dtype;
  std::vector<int64_t> shape;  // -1 where the inputs decide
};

// The inputs, then the outputs.
std::vector<MainTensor> TensorsOfMain(const tir::PrimFunc& func,
                                      const MainFunction& main);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_MAIN_TENSORS_H_
