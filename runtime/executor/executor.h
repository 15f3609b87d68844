#ifndef INGOT_RUNTIME_EXECUTOR_EXECUTOR_H_
#define INGOT_RUNTIME_EXECUTOR_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/data_type.h"
#include "runtime/device.h"
#include "runtime/executor/profiler.h"
#include "runtime/module.h"
#include "runtime/plan/check.h"
#include "runtime/plan/shared_plan.h"
#include "runtime/tensor.h"
#include "runtime/tensor_sequence.h"
#include "runtime/thread_pool.h"

namespace ingot {

// The tensor of a constant's key. Called while an executor is being created.
using ConstantLookup =
    std::function<absl::StatusOr<Tensor>(absl::string_view key)>;

// Told each call of a function after it was made, in the bodies of branches and
// loops too, with its arguments: what it read, then what it wrote, valid until
// it returns. An error ends the run.
using CallObserver = std::function<absl::Status(
    const PlanCall& call, absl::Span<const DLTensor* const> args)>;

struct ExecutorOptions {
  // Threads that one run may use, the calling one included. Ignored when there
  // is a pool.
  int threads = 1;
  // A pool to share with other executors. Runs that overlap then get their own
  // thread only.
  std::shared_ptr<ThreadPool> pool;
  // Records where each call's time goes; null costs nothing. Must outlive the
  // executor.
  Profiler* profiler = nullptr;
  // Sees every call's operands and results, for finding where a model goes
  // wrong; null costs nothing.
  CallObserver observer;
  // Seeds the random numbers of a model that brings no seed of its
  // own. Executors with the same seed give the same numbers, run by run. None:
  // one that differs from executor to executor.
  std::optional<uint64_t> random_seed;
  // The devices of the plan, in its order; the CPU, which is the first, may be
  // left out with all others.
  std::vector<OpenDevice> devices;
  // The most bytes of storage that a plan may ask for, and each body of its
  // branches and loops.
  uint64_t max_storage_bytes = uint64_t{1} << 40;
  // The most iterations that the loops of one run may make together; a run that
  // goes on fails with ResourceExhausted. No limit unless set: a loop may be
  // meant to be long, and nothing else ends one whose condition never becomes
  // false.
  int64_t max_iterations = std::numeric_limits<int64_t>::max();
};

// An input or an output, as it is declared.
struct TensorInfo {
  std::string name;
  DataType dtype;
  // One entry per dimension: the number, or -1 where it depends on the inputs.
  std::vector<int64_t> shape;
  // One entry per dimension: "3", "N", "N*2".
  std::vector<std::string> dims;
  // A sequence of tensors of this type, which has no shape.
  bool is_sequence = false;

  // "f32[N, 3, 224, 224]", "sequence<f32>".
  std::string TypeString() const;
};

// Runs a plan call by call.
//
// Everything that can be checked is checked by Create; what depends on the
// inputs' shapes is computed when they change ("binding"), not per run: a run
// with the shapes of the one before is a loop of indirect calls, without
// allocation or lock.
//
// Use one executor from one thread at a time. Different executors, on the same
// module and constants, may run on different threads at once.
class GraphExecutor {
 public:
  // Checks `plan`, which may come from anywhere, and finds its functions in
  // `host` (and its imports) and its constants through `constants`, which may
  // be null if there are none. The executor keeps all three alive.
  // InvalidArgument for a plan that makes no sense, Unimplemented for another
  // version, NotFound for a missing function or constant, FailedPrecondition
  // for a device that `options` do not bring, ResourceExhausted for too much
  // storage; each names the call or the tensor.
  static absl::StatusOr<std::unique_ptr<GraphExecutor>> Create(
      SharedPlan plan, std::shared_ptr<Module> host,
      const ConstantLookup& constants, ExecutorOptions options = {});

  virtual ~GraphExecutor() = default;

  // In the model's order.
  virtual absl::Span<const TensorInfo> inputs() const = 0;
  virtual absl::Span<const TensorInfo> outputs() const = 0;

  // The next runs read `tensor`, which is held, not copied, until it is
  // replaced; its elements may change between runs. InvalidArgument for an
  // unknown input or a tensor that is not as declared (type, rank, fixed
  // dimensions, on a CPU), naming what is expected and what was given. A view
  // that GetOutput returned is copied, so that outputs can be fed back.
  virtual absl::Status SetInput(size_t index, Tensor tensor) = 0;
  absl::Status SetInput(absl::string_view name, Tensor tensor);
  // The same for an input that is a sequence, whose tensors are held likewise.
  virtual absl::Status SetInputSequence(size_t index,
                                        TensorSequence sequence) = 0;
  // Whichever it is.
  absl::Status SetInputValue(size_t index, TensorOrSequence value);

  // Values that stay from run to run, which runs change in place: none, unless
  // the model was compiled with some (`ingot compile --state`).
  virtual absl::Span<const TensorInfo> states() const = 0;
  // The memory of a state, all zeros at first, which runs change and the caller
  // may change between them. InvalidArgument for an unknown state,
  // ResourceExhausted where there is no room for it.
  virtual absl::StatusOr<Tensor> GetState(size_t index) = 0;
  // The next runs read and change `tensor`, which is held, not copied, until it
  // is replaced: so one executor goes on with several sequences in turn.
  // InvalidArgument for an unknown state or a tensor that is not of its type.
  virtual absl::Status SetState(size_t index, Tensor tensor) = 0;

  // Takes the memory that a run with the inputs that are set needs, without
  // running, so that runs with these or smaller shapes take no more: of a text
  // that grows, ask for the longest first. What only a run knows, such as how
  // often a loop runs, it takes when it knows. Outputs are undefined after it.
  // Errors as of Run, of the shapes.
  virtual absl::Status Prepare() = 0;

  // Computes the outputs. FailedPrecondition if an input was never set;
  // InvalidArgument if inputs disagree about a symbolic dimension or a shape
  // that follows from them is negative or overflows; else what the failing call
  // returned, with its name. After an error the outputs are undefined.
  virtual absl::Status Run() = 0;

  // Output `index` of the last successful Run, as a view of memory that the
  // executor owns: the next Run may change it. The view stays valid memory for
  // as long as it is held, even without the executor. FailedPrecondition before
  // the first successful Run and after a failed one.
  virtual absl::StatusOr<Tensor> GetOutput(size_t index) const = 0;
  // The same for an output that is a sequence. Its tensors may be those of an
  // input; no run changes them.
  virtual absl::StatusOr<TensorSequence> GetOutputSequence(
      size_t index) const = 0;
  // Whichever it is.
  absl::StatusOr<TensorOrSequence> GetOutputValue(size_t index) const;

  // The same as a copy that belongs to the caller.
  absl::StatusOr<Tensor> CopyOutput(size_t index) const;

  // SetInput for all inputs in order, Run, CopyOutput for all outputs. For
  // models without sequences.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs);

  // Bytes of storage and states held now; 0 before the first binding of a plan
  // with symbolic dimensions.
  virtual size_t storage_bytes() const = 0;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_EXECUTOR_EXECUTOR_H_
