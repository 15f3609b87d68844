// Copies a tensor between the CPU and another device.
#include <memory>

#include "absl/strings/str_cat.h"
#include "runtime/executor/step.h"

namespace ingot {
namespace {

class CopyStep final : public Step {
 public:
  CopyStep(const OpenDevice& on, BoundPlan* bound, uint32_t from, uint32_t to)
      : on_(on),
        bound_(*bound),
        from_(*bound->tensor(from)),
        to_(*bound->tensor(to)),
        from_index_(from),
        to_index_(to) {}

  absl::Status Run() override {
    const uint64_t bytes = bound_.bytes(from_index_);
    // Their shapes are expressions, which need not be the same ones.
    if (bytes != bound_.bytes(to_index_)) {
      return absl::InvalidArgumentError(absl::StrCat("a copy of ", bytes,
                                                     " bytes does not fit in ",
                                                     bound_.bytes(to_index_)));
    }
    if (bytes == 0) return absl::OkStatus();
    return to_.device.device_type == kDLCPU
               ? on_.api->CopyToCpu(on_.device, to_.data, from_.data, bytes)
               : on_.api->CopyFromCpu(on_.device, to_.data, from_.data, bytes);
  }

 private:
  const OpenDevice on_;
  const BoundPlan& bound_;
  const DLTensor &from_, &to_;
  const uint32_t from_index_, to_index_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeCopyStep(const CallSite& site) {
  return std::make_unique<CopyStep>(site.context->devices[site.call().device()],
                                    site.bound, site.arg(0), site.result(0));
}

}  // namespace ingot
