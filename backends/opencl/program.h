// A compiled file of kernels, and the functions that launch them. Private to
// this folder.
#ifndef INGOT_BACKENDS_OPENCL_PROGRAM_H_
#define INGOT_BACKENDS_OPENCL_PROGRAM_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/opencl/device.h"
#include "backends/opencl/table.h"
#include "runtime/function.h"

namespace ingot::opencl {

// Lives as long as a function of it.
class Program : public std::enable_shared_from_this<Program> {
 public:
  // Compiles `source` for the device.
  static absl::StatusOr<std::shared_ptr<Program>> Create(
      OpenDevice on, absl::string_view source);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // The function of a line of the table. InvalidArgument for a kernel that the
  // source does not have.
  absl::StatusOr<Function> Find(const TableFunction& entry);

 private:
  Program(OpenDevice on, std::shared_ptr<ClDevice> device)
      : on_(std::move(on)), device_(std::move(device)) {}

  // Queues the kernels of a call on arguments that were checked.
  absl::Status Run(const TableFunction& entry,
                   absl::Span<const cl_kernel> kernels,
                   absl::Span<void* const> arguments) const;

  const OpenDevice on_;
  const std::shared_ptr<ClDevice> device_;
  cl_program program_ = nullptr;
  std::vector<cl_kernel> kernels_;  // of all functions
};

}  // namespace ingot::opencl

#endif  // INGOT_BACKENDS_OPENCL_PROGRAM_H_
