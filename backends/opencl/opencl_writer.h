// Prints loops as OpenCL C. Private to this folder.
#ifndef INGOT_BACKENDS_OPENCL_OPENCL_WRITER_H_
#define INGOT_BACKENDS_OPENCL_OPENCL_WRITER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/opencl/table.h"
#include "compiler/codegen/c_printer.h"
#include "compiler/tir/ir.h"

namespace ingot::opencl {

// Each statement of a function that is a parallel loop becomes a kernel, whose
// work items are the iterations; what stands between such loops becomes a
// kernel with one work item. The device runs one kernel after the other.
class OpenClWriter final : public codegen::CPrinter {
 public:
  // Appends the kernels of a function. Unimplemented for what a device cannot
  // do.
  absl::Status Add(const tir::PrimFunc& func);

  std::string Source() const;
  const std::vector<TableFunction>& table() const { return table_; }

 private:
  absl::Status AddKernel(const tir::PrimFunc& func, const tir::Stmt& body,
                         const tir::For* loop);

  std::vector<TableFunction> table_;
};

}  // namespace ingot::opencl

#endif  // INGOT_BACKENDS_OPENCL_OPENCL_WRITER_H_
