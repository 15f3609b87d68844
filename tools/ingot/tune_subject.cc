#include "tools/ingot/tune_subject.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "compiler/tuning/kernel.h"
#include "compiler/tuning/logged_parameters.h"
#include "loaders/native/linker.h"
#include "runtime/executor/executor.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/node_times.h"

namespace ingot {
namespace {

constexpr int64_t kRunsWithClock = 7;

absl::StatusOr<Tensor> CopyOf(const DLTensor& tensor) {
  const DataType dtype{tensor.dtype.code, tensor.dtype.bits,
                       tensor.dtype.lanes};
  INGOT_ASSIGN_OR_RETURN(
      Tensor copy,
      Tensor::Empty(dtype, absl::MakeConstSpan(tensor.shape, tensor.ndim)));
  std::memcpy(copy.mutable_raw_data(),
              static_cast<const char*>(tensor.data) + tensor.byte_offset,
              copy.bytes());
  return copy;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TuneSubject>> TuneSubject::Compile(
    absl::string_view path, const CompileFlags& flags,
    const CompilerBuiltins& builtins, int threads, Progress* progress) {
  std::unique_ptr<TuneSubject> subject(new TuneSubject);
  TuneSubject& s = *subject;
  s.path_ = std::string(path);
  s.builtins_ = &builtins;
  s.progress_ = progress;
  s.threads_ = threads;
  if (!flags.tuning_log.empty()) {
    return UsageError(
        "a tuning begins with what the cost model says: leave --tuning-log "
        "out, and append one log to the other afterwards");
  }
  std::vector<TargetVariant> variants;
  INGOT_ASSIGN_OR_RETURN(s.options_,
                         MakeCompileOptions(flags, builtins, &variants));
  if (variants.size() > 1) {
    return UsageError("a tuning is of one variant: give its --target alone");
  }
  INGOT_RETURN_IF_ERROR(s.FindTargets(s.options_.targets));
  INGOT_ASSIGN_OR_RETURN(s.folder_, ScratchFolder::Make());
  CompileOptions options = s.options_;
  options.on_progress = [progress](absl::string_view what, double fraction) {
    progress->Update(what, fraction);
  };
  options.on_function = [&s](absl::string_view symbol,
                             absl::string_view function) {
    s.symbols_.emplace(function, symbol);
  };
  options.pick_parameters = [&s](const tuning::KernelToSchedule& kernel) {
    return s.Note(kernel);
  };
  INGOT_ASSIGN_OR_RETURN(s.read_,
                         ReadModelToCompile(path, builtins.frontends, options));
  // Warnings were given once.
  s.options_.on_warning = nullptr;
  INGOT_ASSIGN_OR_RETURN(
      const ArtifactSet set,
      CompileModule(&s.read_.module, s.read_.name, s.read_.sha256,
                    builtins.targets, options));
  INGOT_ASSIGN_OR_RETURN(s.model_, s.Load(set));
  return subject;
}

absl::Status TuneSubject::FindTargets(absl::Span<const Target> targets) {
  bool has_host = false;
  for (const Target& target : targets) {
    INGOT_ASSIGN_OR_RETURN(const TargetKind* kind,
                           builtins_->targets.Find(target.kind));
    INGOT_ASSIGN_OR_RETURN(const MachineModel machine, kind->MachineOf(target));
    if (machine.reproducible) {
      return UsageError(
          "results with the same bits everywhere do not depend on what one "
          "machine measured: there is nothing to tune for a reproducible "
          "target");
    }
    // The first host has the kernels, where there are several.
    const bool is_first_host = kind->IsHost() && !has_host;
    has_host |= kind->IsHost();
    const bool is_device = !kind->device.empty() && !kind->templates.empty();
    if (is_first_host || is_device) targets_.push_back(target);
  }
  if (!targets_.empty()) return absl::OkStatus();
  return UsageError("none of the targets makes kernels by schedules");
}

te::ParameterPicker TuneSubject::Note(const tuning::KernelToSchedule& kernel) {
  const auto target = std::find_if(
      targets_.begin(), targets_.end(),
      [&](const Target& t) { return t.Id() == kernel.target.Id(); });
  if (target == targets_.end()) return nullptr;
  TunableKernel* const noted = &by_function_[std::string(kernel.function)];
  noted->function = std::string(kernel.function);
  noted->target = *target;
  noted->key.kernel = tuning::KernelKey(kernel.graph, kernel.outputs);
  noted->key.target = tuning::TargetKey(kernel.target, kernel.machine);
  noted->key.ingot = kIngotVersion;
  return [noted](const te::ScheduleTemplate& t, const te::ScheduleSite& site,
                 const te::ScheduleChoice& cheapest) {
    std::vector<te::EstimatedPoint> points = te::PointsByCost(t, site);
    if (points.size() > 1) {
      noted->operations.push_back({t.name, std::move(points), cheapest});
    }
    return cheapest;
  };
}

absl::StatusOr<LoadedModel> TuneSubject::Load(const ArtifactSet& set) {
  LoadOptions load;
  load.threads = threads_;
  std::string library;
  load.link = [&](const ArtifactSet& native) -> absl::StatusOr<std::string> {
    library = absl::StrCat(folder_->path(), "/", libraries_++, ".so");
    INGOT_RETURN_IF_ERROR(LinkLibrary(native, library, UsersLinkOptions()));
    return library;
  };
  absl::StatusOr<LoadedModel> loaded =
      ingot::Load(set, builtins_->sets.loaders, load);
  // An open library stays open without its file, of which a tuning makes too
  // many to keep.
  if (!library.empty()) unlink(library.c_str());
  return loaded;
}

absl::StatusOr<std::vector<TunableKernel>> TuneSubject::MeasureKernels(
    absl::Span<const TensorOrSequence> inputs, double* total) {
  INGOT_ASSIGN_OR_RETURN(
      const std::vector<NodeTime> times,
      MeasureNodes(model_, inputs, threads_, kRunsWithClock, progress_));
  std::map<std::pair<std::string, std::string>, TunableKernel> by_key;
  *total = 0;
  for (const NodeTime& time : times) *total += time.seconds;
  for (const auto& [function, noted] : by_function_) {
    if (noted.operations.empty()) continue;
    const std::string& symbol = symbols_.at(function);
    TunableKernel& kernel =
        by_key
            .emplace(std::make_pair(noted.key.target, noted.key.kernel), noted)
            .first->second;
    kernel.symbols.push_back(symbol);
    for (const NodeTime& time : times) {
      if (time.function != symbol) continue;
      kernel.seconds += time.seconds;
      kernel.calls += time.calls;
      absl::StrAppend(&kernel.nodes, kernel.nodes.empty() ? "" : ", ",
                      time.source);
    }
  }
  std::vector<TunableKernel> kernels;
  for (auto& [key, kernel] : by_key) {
    if (kernel.calls > 0) kernels.push_back(std::move(kernel));
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const TunableKernel& a, const TunableKernel& b) {
              return a.seconds != b.seconds ? a.seconds > b.seconds
                                            : a.key < b.key;
            });
  return kernels;
}

absl::StatusOr<KernelOperand> TuneSubject::OperandOf(
    const DLTensor& argument) const {
  KernelOperand operand;
  INGOT_ASSIGN_OR_RETURN(operand.tensor, CopyOf(argument));
  const void* const data =
      static_cast<const char*>(argument.data) + argument.byte_offset;
  for (const auto& [key, constant] : model_.constants) {
    operand.is_constant |= constant.raw_data() == data;
  }
  return operand;
}

absl::StatusOr<std::vector<KernelOperand>> TuneSubject::OperandsOf(
    const TunableKernel& kernel, absl::Span<const TensorOrSequence> inputs) {
  const std::string& symbol = symbols_.at(kernel.function);
  const size_t count = FunctionOf(kernel).inputs.size();
  std::vector<KernelOperand> operands;
  ExecutorOptions options;
  options.threads = threads_;
  options.observer =
      [&](const PlanCall& call,
          absl::Span<const DLTensor* const> args) -> absl::Status {
    if (call.function() != symbol || !operands.empty()) return absl::OkStatus();
    for (const DLTensor* arg : args.first(count)) {
      INGOT_ASSIGN_OR_RETURN(KernelOperand operand, OperandOf(*arg));
      operands.push_back(std::move(operand));
    }
    return absl::OkStatus();
  };
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateExecutor(model_, options));
  INGOT_RETURN_IF_ERROR(SetInputs(inputs, executor.get()));
  INGOT_RETURN_IF_ERROR(executor->Run());
  if (operands.size() == count) return operands;
  return absl::FailedPreconditionError(
      absl::StrCat("no call of ", symbol, " is made"));
}

const relay::Function& TuneSubject::FunctionOf(
    const TunableKernel& kernel) const {
  return *read_.module.Find(kernel.function);
}

absl::StatusOr<LoadedModel> TuneSubject::CompileWith(
    const tuning::TuningLog& log) {
  CompileOptions options = options_;
  options.tuning_log =
      std::make_shared<const tuning::LoggedParameters>(log.ToString());
  INGOT_ASSIGN_OR_RETURN(
      const ArtifactSet set,
      CompileModel(path_, builtins_->frontends, builtins_->targets, options));
  return Load(set);
}

absl::StatusOr<LoadedModel> TuneSubject::CompileKernels(
    relay::Module* module, const Target& target, tuning::PickParameters pick) {
  INGOT_ASSIGN_OR_RETURN(const bool on_device, IsOnDevice(target));
  CompileOptions options;
  options.targets = {target};
  options.target_text = target.ToString();
  if (on_device) {  // which needs a host
    options.targets = options_.targets;
    options.target_text = options_.target_text;
  }
  options.known_loaders = options_.known_loaders;
  options.should_run_pass = [on_device](absl::string_view pass) {
    return on_device && pass == "place_on_devices";
  };
  options.pick_parameters = std::move(pick);
  INGOT_ASSIGN_OR_RETURN(
      const ArtifactSet set,
      CompileModule(module, "kernels", "", builtins_->targets, options));
  return Load(set);
}

absl::StatusOr<bool> TuneSubject::IsOnDevice(const Target& target) const {
  INGOT_ASSIGN_OR_RETURN(const TargetKind* kind,
                         builtins_->targets.Find(target.kind));
  return !kind->device.empty();
}

bool TuneSubject::UsesDevices() const { return model_.devices.size() > 1; }

uint64_t TuneSubject::constant_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [key, tensor] : model_.constants) bytes += tensor.bytes();
  return bytes;
}

}  // namespace ingot
