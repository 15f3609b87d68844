#ifndef INGOT_COMPILER_DRIVER_IR_DUMP_H_
#define INGOT_COMPILER_DRIVER_IR_DUMP_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "compiler/tir/ir.h"
#include "runtime/tensor.h"

namespace ingot {

// Writes what `--dump-ir` shows into a folder: a numbered file for the module
// after each pass that changed it, which `ingot opt` reads back, and a folder
// with the same for the loops of each kernel.
class IrDump {
 public:
  // An empty folder name dumps nothing. The folder is made when first needed.
  explicit IrDump(std::string folder) : folder_(std::move(folder)) {}

  // NN_<stage>.relay. The weights of all stages are in one file beside them,
  // each once.
  absl::Status Write(absl::string_view stage, const relay::Module& module);

  // tir/<kernel>/NN_<stage>.tir
  absl::Status Write(absl::string_view stage, const tir::PrimFunc& function);

 private:
  const std::string folder_;
  int next_ = 0;
  std::map<std::string, int> next_of_kernel_;
  // The weights in that file. They keep those alive that a pass has replaced.
  std::map<std::string, Tensor> constants_;
};

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_IR_DUMP_H_
