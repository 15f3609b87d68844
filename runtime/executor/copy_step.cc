// Copies a tensor between the CPU and another device, while later calls run,
// and makes those wait that need it.
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/executor/step.h"

namespace ingot {
namespace {

// The moments when copies are done that a step waits for.
class CopiesBefore {
 public:
  explicit CopiesBefore(const CallSite& site)
      : events_(*site.events), calls_(site.waits) {}

  // Calls `wait` with each copy that is under way.
  template <typename Wait>
  absl::Status Each(Wait wait) const {
    for (const int call : calls_) {
      if (events_[call] == nullptr) continue;  // of no bytes
      INGOT_RETURN_IF_ERROR(wait(events_[call]));
    }
    return absl::OkStatus();
  }

 private:
  const std::vector<std::shared_ptr<DeviceEvent>>& events_;
  const std::vector<int> calls_;
};

class CopyStep final : public Step {
 public:
  explicit CopyStep(const CallSite& site)
      : before_(site),
        stream_(*site.context->streams[site.call().device()]),
        bound_(*site.bound),
        from_index_(site.arg(0)),
        to_index_(site.result(0)),
        from_(*site.bound->tensor(from_index_)),
        to_(*site.bound->tensor(to_index_)),
        done_((*site.events)[site.index]) {}

  absl::Status Run() override {
    const uint64_t bytes = bound_.bytes(from_index_);
    // Their shapes are expressions, which need not be the same ones.
    if (bytes != bound_.bytes(to_index_)) {
      return absl::InvalidArgumentError(absl::StrCat("a copy of ", bytes,
                                                     " bytes does not fit in ",
                                                     bound_.bytes(to_index_)));
    }
    done_ = nullptr;
    if (bytes == 0) return absl::OkStatus();
    INGOT_RETURN_IF_ERROR(
        before_.Each([this](const std::shared_ptr<DeviceEvent>& event) {
          return stream_.WaitFor(event);
        }));
    INGOT_RETURN_IF_ERROR(
        to_.device.device_type == kDLCPU
            ? stream_.CopyToCpu(to_.data, from_.data, bytes)
            : stream_.CopyFromCpu(to_.data, from_.data, bytes));
    INGOT_ASSIGN_OR_RETURN(done_, stream_.Record());
    return absl::OkStatus();
  }

 private:
  const CopiesBefore before_;
  DeviceStream& stream_;
  const BoundPlan& bound_;
  const uint32_t from_index_, to_index_;
  const DLTensor &from_, &to_;
  std::shared_ptr<DeviceEvent>& done_;
};

class WaitingStep final : public Step {
 public:
  WaitingStep(std::unique_ptr<Step> step, const CallSite& site)
      : before_(site), step_(std::move(step)) {}

  absl::Status Run() override {
    INGOT_RETURN_IF_ERROR(
        before_.Each([](const std::shared_ptr<DeviceEvent>& event) {
          return event->Wait();
        }));
    return step_->Run();
  }
  size_t storage_bytes() const override { return step_->storage_bytes(); }

 private:
  const CopiesBefore before_;
  const std::unique_ptr<Step> step_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeCopyStep(const CallSite& site) {
  return std::make_unique<CopyStep>(site);
}

std::unique_ptr<Step> AfterCopies(std::unique_ptr<Step> step,
                                  const CallSite& site) {
  if (site.waits.empty() || site.call().has_copy()) return step;
  return std::make_unique<WaitingStep>(std::move(step), site);
}

}  // namespace ingot
