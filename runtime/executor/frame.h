#ifndef INGOT_RUNTIME_EXECUTOR_FRAME_H_
#define INGOT_RUNTIME_EXECUTOR_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "runtime/executor/step.h"
#include "runtime/executor/stretch.h"
#include "runtime/plan/bound_plan.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// A plan with memory and its steps prepared, ready to run: the executor's, or
// the body of a branch or a loop, which is a frame of its own. Not thread-safe.
class Frame {
 public:
  // `keeps_outputs`: see BoundPlan.
  Frame(FrameContext* context, bool keeps_outputs)
      : context_(context),
        bound_(context->max_storage_bytes, keeps_outputs, &context->devices) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  // `plan`, which outlives this, must have passed CheckPlan, as part of the
  // executor's. Errors name the call or the tensor.
  absl::Status Init(const Plan& plan);

  BoundPlan& bound() { return bound_; }
  const BoundPlan& bound() const { return bound_; }

  // The bytes of this frame and of those below it.
  size_t storage_bytes() const;

  // Binds, makes all calls and waits for what devices do. Errors name the call,
  // but those of devices that nothing waited for before name themselves.
  absl::Status Run();

 private:
  absl::Status RunSteps();
  absl::Status RunProfiled();
  absl::Status RunObserved();
  absl::StatusOr<Tensor> CopyOf(uint32_t device, const DLTensor& tensor) const;
  // Waits for the work on the device of a step, if it is another than the CPU.
  absl::Status Synchronize(size_t step);
  absl::Status AtStep(size_t step, const absl::Status& status) const;

  FrameContext* const context_;
  BoundPlan bound_;
  int64_t runs_ = 0;  // that have begun
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<Stretch> stretches_;  // of steps_, in their order
  // When the copies of this run are done, by the index of the call.
  std::vector<std::shared_ptr<DeviceEvent>> events_;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_EXECUTOR_FRAME_H_
