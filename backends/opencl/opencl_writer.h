// Prints loops as OpenCL C. Private to this folder.
#ifndef INGOT_BACKENDS_OPENCL_OPENCL_WRITER_H_
#define INGOT_BACKENDS_OPENCL_OPENCL_WRITER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/codegen/c_printer.h"
#include "compiler/codegen/device_kernels.h"
#include "compiler/tir/ir.h"

namespace ingot::opencl {

class OpenClWriter final : public codegen::CPrinter {
 public:
  // Appends the kernels of a function. Unimplemented, with the kernel's name,
  // for what OpenCL C cannot say.
  absl::Status Add(const tir::PrimFunc& func,
                   absl::Span<const codegen::DeviceKernel> kernels);

  std::string Source() const;

 private:
  absl::Status AddKernel(const tir::PrimFunc& func,
                         const codegen::DeviceKernel& kernel);
  // One iteration for each work item of a group.
  void PrintThreads(const tir::For& loop) override;
  void PrintPrefetch(const tir::Prefetch&) override {}
  absl::string_view ArrayPrefix(tir::Scope scope) const override;

  const codegen::DeviceKernel* kernel_ = nullptr;  // being printed
};

}  // namespace ingot::opencl

#endif  // INGOT_BACKENDS_OPENCL_OPENCL_WRITER_H_
