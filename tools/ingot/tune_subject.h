// A model that is tuned, its kernels, and the ways to compile and run it.
#ifndef INGOT_TOOLS_INGOT_TUNE_SUBJECT_H_
#define INGOT_TOOLS_INGOT_TUNE_SUBJECT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/artifact_set.h"
#include "compiler/driver/compile.h"
#include "compiler/frontends/read_model.h"
#include "compiler/schedules/choose.h"
#include "compiler/tuning/tuning_log.h"
#include "loaders/load.h"
#include "loaders/native/files.h"
#include "runtime/tensor.h"
#include "runtime/tensor_sequence.h"
#include "tools/ingot/compile_model.h"
#include "tools/ingot/output.h"

namespace ingot {

// An operation of a kernel whose template has more than one point.
struct TunableOperation {
  std::string schedule_template;
  std::vector<te::EstimatedPoint> points;  // least cost first
  te::ScheduleChoice estimated;            // the cost model's choice
};

// Kernels of one definition: all of them get the same parameters.
struct TunableKernel {
  tuning::TuningKey key;  // without an operation
  Target target;          // that generates its code
  std::vector<TunableOperation> operations;
  std::vector<std::string> symbols;  // of the functions
  std::string function;              // of the module: one of them
  std::string nodes;                 // the model's, that they compute
  int calls = 0;                     // in a run
  double seconds = 0;                // of a run, all calls together
};

// The arguments that a kernel reads.
struct KernelOperand {
  Tensor tensor;
  bool is_constant = false;  // of the model
};

class TuneSubject {
 public:
  // Compiles the model at `path` as the cost model says, and loads it. What is
  // given outlives the subject. Errors: a UsageError for variants, for flags
  // with a log, and for targets whose results must be the same everywhere;
  // those of compiling and loading.
  static absl::StatusOr<std::unique_ptr<TuneSubject>> Compile(
      absl::string_view path, const CompileFlags& flags,
      const CompilerBuiltins& builtins, int threads, Progress* progress);

  const LoadedModel& model() const { return model_; }
  int threads() const { return threads_; }

  // Measures a run call by call, and returns the kernels that have parameters,
  // those that take longest first. `total` gets the seconds of all calls.
  absl::StatusOr<std::vector<TunableKernel>> MeasureKernels(
      absl::Span<const TensorOrSequence> inputs, double* total);

  // Copies of what the kernel's first call in a run reads.
  // FailedPrecondition if no call of it is made.
  absl::StatusOr<std::vector<KernelOperand>> OperandsOf(
      const TunableKernel& kernel, absl::Span<const TensorOrSequence> inputs);

  // The function of the kernel.
  const relay::Function& FunctionOf(const TunableKernel& kernel) const;

  // The whole model once more, as a log says.
  absl::StatusOr<LoadedModel> CompileWith(const tuning::TuningLog& log);

  // Compiles a module whose functions are kernels for one of the model's
  // targets, without passes over it but that which copies to and from devices,
  // with parameters that `pick` chooses, and loads it: the same way that every
  // model takes.
  absl::StatusOr<LoadedModel> CompileKernels(relay::Module* module,
                                             const Target& target,
                                             tuning::PickParameters pick);

  // Whether kernels of the model run on devices: then the time that passes is
  // what counts, not what the calling thread works.
  bool UsesDevices() const;

  // Bytes of the model's constants.
  uint64_t constant_bytes() const;

 private:
  TuneSubject() = default;
  absl::Status FindTargets(absl::Span<const Target> targets);
  // Whether a target's kernels run on a device.
  absl::StatusOr<bool> IsOnDevice(const Target& target) const;
  absl::StatusOr<LoadedModel> Load(const ArtifactSet& set);
  absl::StatusOr<KernelOperand> OperandOf(const DLTensor& argument) const;
  // Notes the operations of each kernel that is compiled.
  te::ParameterPicker Note(const tuning::KernelToSchedule& kernel);

  std::string path_;
  const CompilerBuiltins* builtins_ = nullptr;
  Progress* progress_ = nullptr;
  int threads_ = 1;
  CompileOptions options_;       // of the whole model
  std::vector<Target> targets_;  // that make kernels by schedules
  std::unique_ptr<ScratchFolder> folder_;
  int libraries_ = 0;                           // linked in it so far
  ReadModel read_;                              // as it was compiled
  std::map<std::string, std::string> symbols_;  // of functions, by name
  std::map<std::string, TunableKernel> by_function_;
  LoadedModel model_;
};

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_TUNE_SUBJECT_H_
