#ifndef INGOT_RUNTIME_FRAME_H_
#define INGOT_RUNTIME_FRAME_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/bound_plan.h"
#include "runtime/c_abi.h"
#include "runtime/function.h"
#include "runtime/module.h"
#include "runtime/plan.pb.h"
#include "runtime/profiler.h"
#include "runtime/tensor.h"
#include "runtime/tensor_list.h"

namespace ingot {

// What all frames of one executor share.
struct FrameContext {
  std::shared_ptr<Module> host;
  std::function<absl::StatusOr<Tensor>(absl::string_view)> constants;
  Profiler* profiler = nullptr;
  std::function<absl::Status(const PlanCall&,
                             absl::Span<const DLTensor* const>)>
      observer;
  uint64_t max_storage_bytes = 0;  // of one frame
  uint64_t random_seed = 0;
  int64_t max_trips = 0;  // of all loops in one run of the executor
  int64_t trips = 0;      // in this one
};

// A plan with memory behind it and its functions found, ready to run: the
// executor's, or the body of a branch or a loop, which is a frame of its own
// below that of the call. Not thread-safe.
class Frame {
 public:
  explicit Frame(FrameContext* context)
      : context_(context), bound_(context->max_storage_bytes) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  // `plan` must have passed CheckPlan, as part of the executor's. Errors name
  // the call or the tensor.
  absl::Status Init(const Plan& plan);

  BoundPlan& bound() { return bound_; }
  const BoundPlan& bound() const { return bound_; }

  // Of this frame and those below it.
  size_t storage_bytes() const;

  // Binds and makes all calls. Errors name the call.
  absl::Status Run();

 private:
  // One call, ready to be made.
  struct Step {
    TVMFFISafeCallType call;  // null: a call that is not a function's
    void* handle;
    const TVMFFIAny* args;
    int32_t num_args;
  };

  // What a loop keeps from trip to trip, and from run to run.
  struct LoopState {
    // The carried values, those that a trip reads and those that it gave.
    std::vector<std::vector<char>> read, given;
    std::vector<TensorList> lists;           // those that are lists
    std::vector<std::vector<char>> stacks;   // of the further results
    std::vector<std::vector<int64_t>> dims;  // of all results
  };

  absl::Status RunSteps();
  absl::Status RunStepsProfiled();
  absl::Status RunStepsObserved();
  absl::Status RunStep(size_t step);
  // A call that is not a function's.
  absl::Status RunControl(int call);
  absl::Status RunList(int call);
  void GiveRandomState(int call);
  absl::Status RunBranch(int call);
  absl::Status RunLoop(int call);
  absl::Status RunTrips(int call, LoopState* state,
                        std::vector<DLTensor>* carried,
                        std::vector<DLTensor>* stacks);
  // Takes `from` as the call's result `output` once its shape is bound.
  absl::Status CopyResult(int call, int output, const DLTensor& from);
  // Binds the symbols of a branch or a loop to its results' dimensions, then
  // copies these.
  absl::Status TakeResults(int call, absl::Span<const DLTensor> results);
  absl::Status Annotate(size_t step, const absl::Status& status) const;

  // Argument `i` of the call as input `input` of a body.
  void PassInput(const PlanCall& call, int i, Frame* body, int input);

  DLTensor* arg(const PlanCall& call, int i) {
    return bound_.tensor(call.args(i));
  }

  FrameContext* const context_;
  BoundPlan bound_;
  bool has_control_ = false;
  int64_t runs_ = 0;  // that have begun
  std::vector<Function> functions_;
  std::vector<TVMFFIAny> args_;
  std::vector<Step> steps_;
  std::vector<std::unique_ptr<Frame>> bodies_;
  std::vector<LoopState> loops_;  // beside bodies_
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_FRAME_H_
