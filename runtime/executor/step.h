#ifndef INGOT_RUNTIME_EXECUTOR_STEP_H_
#define INGOT_RUNTIME_EXECUTOR_STEP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/c_abi.h"
#include "runtime/device.h"
#include "runtime/device_stream.h"
#include "runtime/executor/profiler.h"
#include "runtime/function.h"
#include "runtime/module.h"
#include "runtime/plan/bound_plan.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/tensor.h"

namespace ingot {

// State that all frames of one executor share.
struct FrameContext {
  std::shared_ptr<Module> host;
  std::function<absl::StatusOr<Tensor>(absl::string_view)> constants;
  Profiler* profiler = nullptr;
  std::function<absl::Status(const PlanCall&,
                             absl::Span<const DLTensor* const>)>
      observer;
  uint64_t max_storage_bytes = 0;       // of one frame
  std::optional<uint64_t> random_seed;  // chosen when a step needs it
  int64_t max_iterations = 0;       // of all loops in one run of the executor
  int64_t iterations = 0;           // in this run
  std::vector<OpenDevice> devices;  // the plan's
  // One for each device, which this executor alone uses; null for the CPU.
  std::vector<std::unique_ptr<DeviceStream>> streams;
  // Those of the host that were found while steps are made, by the names in the
  // plan: many calls are of one function.
  absl::flat_hash_map<absl::string_view, Function> functions;
};

// One call of a plan, prepared when the plan is loaded: a run only looks at
// addresses that do not change. Not thread-safe.
class Step {
 public:
  virtual ~Step() = default;

  // Makes the call. The caller adds the call's name to an error.
  virtual absl::Status Run() = 0;

  // The bytes of the bodies that it runs.
  virtual size_t storage_bytes() const { return 0; }
};

// The call that a step is made for.
struct CallSite {
  const Plan& plan;  // outlives the step, as `bound` and others below do
  int index;         // of the call
  int next_phase;    // that begins after the call, or 0
  BoundPlan* bound;
  FrameContext* context;
  const int64_t* runs;  // of the frame, that have begun
  // The copies to wait for (CopiesToWaitFor), and when each copy of this run is
  // done, by the index of its call.
  std::vector<int> waits;
  std::vector<std::shared_ptr<DeviceEvent>>* events;

  const PlanCall& call() const { return plan.calls(index); }
  int num_reads() const {
    return call().args_size() - static_cast<int>(call().num_outputs());
  }
  // Argument `i`: first what the call reads, then what it writes.
  uint32_t arg(int i) const { return call().args(i); }
  uint32_t result(int i) const { return call().args(num_reads() + i); }
};

// One of these for each kind of step, in a file of its own. NotFound for a
// function that is missing, and the errors of preparing a body.
absl::StatusOr<std::unique_ptr<Step>> MakeFunctionStep(const CallSite& site);
absl::StatusOr<std::unique_ptr<Step>> MakeBindDimsStep(const CallSite& site);
absl::StatusOr<std::unique_ptr<Step>> MakeCopyStep(const CallSite& site);
// The step of a call that does not wait for copies by itself, with the waiting
// in front.
std::unique_ptr<Step> AfterCopies(std::unique_ptr<Step> step,
                                  const CallSite& site);
absl::StatusOr<std::unique_ptr<Step>> MakeRandomStateStep(const CallSite& site);
absl::StatusOr<std::unique_ptr<Step>> MakeSequenceStep(const CallSite& site);
absl::StatusOr<std::unique_ptr<Step>> MakeBranchStep(const CallSite& site);
absl::StatusOr<std::unique_ptr<Step>> MakeLoopStep(const CallSite& site);

}  // namespace ingot

#endif  // INGOT_RUNTIME_EXECUTOR_STEP_H_
