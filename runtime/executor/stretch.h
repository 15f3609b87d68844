// Calls of a plan that queue work on one device, one after the other.
#ifndef INGOT_RUNTIME_EXECUTOR_STRETCH_H_
#define INGOT_RUNTIME_EXECUTOR_STRETCH_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/c_abi.h"
#include "runtime/device_stream.h"
#include "runtime/executor/step.h"

namespace ingot {

// Runs such calls. Where they would queue what they queued in the run before,
// a stream that can records it, and queues it at once from then on. Not
// thread-safe.
class Stretch {
 public:
  // The steps, and the tensors that are their arguments, outlive it; calls are
  // `first` and so on. `at_step` adds a call's name to its error.
  Stretch(size_t first, std::vector<Step*> steps,
          std::vector<const DLTensor*> arguments, DeviceStream* stream,
          std::function<absl::Status(size_t, const absl::Status&)> at_step)
      : first_(first),
        steps_(std::move(steps)),
        arguments_(std::move(arguments)),
        stream_(*stream),
        at_step_(std::move(at_step)) {}

  size_t first() const { return first_; }
  size_t size() const { return steps_.size(); }

  absl::Status Run();

 private:
  absl::Status RunSteps();
  // Whether the arguments are where they were in the run before; remembers
  // where they are.
  bool AreInPlace();

  const size_t first_;
  const std::vector<Step*> steps_;
  const std::vector<const DLTensor*> arguments_;
  DeviceStream& stream_;
  const std::function<absl::Status(size_t, const absl::Status&)> at_step_;
  std::vector<void*> addresses_;  // in the run before
  std::unique_ptr<RecordedWork> recorded_;
  bool may_record_ = true;
};

// The stretches of a frame's steps, `waits` by step: those that wait for a copy
// are in none, and none has less than two.
std::vector<Stretch> FindStretches(
    const Plan& plan, BoundPlan& bound,
    absl::Span<const std::unique_ptr<Step>> steps,
    const std::vector<bool>& waits, const FrameContext& context,
    const std::function<absl::Status(size_t, const absl::Status&)>& at_step);

}  // namespace ingot

#endif  // INGOT_RUNTIME_EXECUTOR_STRETCH_H_
