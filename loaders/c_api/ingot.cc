#include "loaders/c_api/ingot.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "artifact/blob.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "loaders/c_api/own_loaders.h"
#include "loaders/c_api/register_loaders.h"
#include "loaders/c_api/report.h"
#include "loaders/load.h"
#include "runtime/executor/executor.h"

namespace {

using ingot::GraphExecutor;
using ingot::Tensor;
using ingot::TensorInfo;
using ingot::c_api::LastError;
using ingot::c_api::Report;

// Inputs or outputs as C has them, with the memory that the pointers refer to.
class TensorInfos {
 public:
  explicit TensorInfos(absl::Span<const TensorInfo> infos)
      : infos_(infos.begin(), infos.end()) {
    for (const TensorInfo& info : infos_) {
      types_.push_back(info.TypeString());
      IngotTensorInfo c;
      c.name = info.name.c_str();
      c.shape = info.is_sequence ? nullptr : info.shape.data();
      c.ndim = info.is_sequence ? -1 : static_cast<int32_t>(info.shape.size());
      c.dtype = {info.dtype.code, info.dtype.bits, info.dtype.lanes};
      c_.push_back(c);
    }
  }

  const IngotTensorInfo* Get(int32_t* count) const {
    *count = static_cast<int32_t>(c_.size());
    return c_.data();
  }
  const char* Type(int32_t index) const {
    const bool is_there =
        index >= 0 && static_cast<size_t>(index) < types_.size();
    return is_there ? types_[index].c_str() : nullptr;
  }

 private:
  const std::vector<TensorInfo> infos_;
  std::vector<std::string> types_;
  std::vector<IngotTensorInfo> c_;
};

}  // namespace

struct IngotModel {
  IngotModel(ingot::LoadedModel model_in, ingot::ExecutorOptions options_in,
             std::unique_ptr<GraphExecutor> first)
      : model(std::move(model_in)),
        options(std::move(options_in)),
        inputs(first->inputs()),
        outputs(first->outputs()),
        states(first->states()),
        spare(std::move(first)) {}

  const ingot::LoadedModel model;
  const ingot::ExecutorOptions options;
  const TensorInfos inputs, outputs, states;
  // Loading makes an executor, because that checks the plan; whoever asks first
  // gets it.
  mutable std::mutex mutex;
  mutable std::unique_ptr<GraphExecutor> spare;
};

struct IngotExecutor {
  std::unique_ptr<GraphExecutor> executor;
  // Those of ingot_get_output, by index, while somebody may read them.
  std::vector<Tensor> shown;
  // The same of ingot_get_state.
  std::vector<Tensor> shown_states;
};

namespace {

// The caller's options as this version has them.
absl::StatusOr<IngotLoadOptions> Complete(const IngotLoadOptions* given) {
  IngotLoadOptions options = {};
  if (given != nullptr) {
    if (given->size == 0) {
      return absl::InvalidArgumentError(
          "IngotLoadOptions: size must be sizeof(IngotLoadOptions)");
    }
    std::memcpy(&options, given, std::min(given->size, sizeof(options)));
  }
  if (options.threads < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("IngotLoadOptions: threads is ", options.threads));
  }
  options.threads = std::max(options.threads, 1);
  if (options.num_loaders < 0 ||
      (options.num_loaders > 0 && options.loaders == nullptr)) {
    return absl::InvalidArgumentError(
        absl::StrCat("IngotLoadOptions: num_loaders is ", options.num_loaders));
  }
  return options;
}

template <typename LoadFn>
absl::Status LoadWith(const IngotLoadOptions* given, LoadFn load,
                      IngotModel** result) {
  INGOT_ASSIGN_OR_RETURN(const IngotLoadOptions c_options, Complete(given));
  ingot::LoaderRegistry loaders;
  INGOT_RETURN_IF_ERROR(ingot::c_api::RegisterLoaders(&loaders));
  INGOT_RETURN_IF_ERROR(ingot::c_api::RegisterOwnLoaders(
      absl::MakeConstSpan(c_options.loaders,
                          static_cast<size_t>(c_options.num_loaders)),
      &loaders));
  ingot::LoadOptions options;
  options.threads = c_options.threads;
  options.check_digests = c_options.check_digests != 0;
  if (c_options.variant != nullptr) options.variant = c_options.variant;
  INGOT_ASSIGN_OR_RETURN(ingot::LoadedModel model, load(loaders, options));
  ingot::ExecutorOptions executor_options;
  executor_options.threads = c_options.threads;
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateExecutor(model, executor_options));
  *result = new IngotModel(std::move(model), std::move(executor_options),
                           std::move(executor));
  return absl::OkStatus();
}

absl::Status CheckIndex(int32_t index, size_t count, absl::string_view what) {
  if (index >= 0 && static_cast<size_t>(index) < count) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no ", what, " ", index, "; the model has ", count));
}

// A tensor whose elements stay the caller's.
absl::StatusOr<Tensor> Borrow(const DLTensor* tensor) {
  if (tensor == nullptr) {
    return absl::InvalidArgumentError("the tensor is null");
  }
  auto managed = std::make_unique<DLManagedTensor>();
  managed->dl_tensor = *tensor;
  managed->manager_ctx = nullptr;
  managed->deleter = [](DLManagedTensor* self) { delete self; };
  INGOT_ASSIGN_OR_RETURN(Tensor borrowed, Tensor::FromDlpack(managed.get()));
  managed.release();  // it is the tensor's now
  return borrowed;
}

absl::Status SetInput(IngotExecutor* executor, int32_t index,
                      const DLTensor* tensor) {
  INGOT_RETURN_IF_ERROR(
      CheckIndex(index, executor->executor->inputs().size(), "input"));
  absl::StatusOr<Tensor> input = Borrow(tensor);
  if (!input.ok()) {
    const std::string& name = executor->executor->inputs()[index].name;
    return ingot::Annotate(input.status(),
                           absl::StrCat("input ", index, " ('", name, "')"));
  }
  return executor->executor->SetInput(static_cast<size_t>(index),
                                      *std::move(input));
}

absl::StatusOr<Tensor> Output(const IngotExecutor& executor, int32_t index) {
  INGOT_RETURN_IF_ERROR(
      CheckIndex(index, executor.executor->outputs().size(), "output"));
  return executor.executor->GetOutput(static_cast<size_t>(index));
}

absl::Status ShowOutput(IngotExecutor* executor, int32_t index,
                        DLTensor* tensor) {
  INGOT_ASSIGN_OR_RETURN(Tensor output, Output(*executor, index));
  executor->shown.resize(executor->executor->outputs().size());
  Tensor& shown = executor->shown[index];
  shown = std::move(output);
  *tensor = *shown.dl();
  return absl::OkStatus();
}

absl::Status ExportOutput(const IngotExecutor& executor, int32_t index,
                          DLManagedTensor** tensor) {
  INGOT_ASSIGN_OR_RETURN(const Tensor output, Output(executor, index));
  *tensor = output.ToDlpack();
  return absl::OkStatus();
}

absl::Status ShowState(IngotExecutor* executor, int32_t index,
                       DLTensor* tensor) {
  const size_t count = executor->executor->states().size();
  INGOT_RETURN_IF_ERROR(CheckIndex(index, count, "state"));
  executor->shown_states.resize(count);
  Tensor& shown = executor->shown_states[index];
  INGOT_ASSIGN_OR_RETURN(
      shown, executor->executor->GetState(static_cast<size_t>(index)));
  *tensor = *shown.dl();
  return absl::OkStatus();
}

absl::Status SetState(IngotExecutor* executor, int32_t index,
                      const DLTensor* tensor) {
  INGOT_RETURN_IF_ERROR(
      CheckIndex(index, executor->executor->states().size(), "state"));
  INGOT_ASSIGN_OR_RETURN(Tensor state, Borrow(tensor));
  return executor->executor->SetState(static_cast<size_t>(index),
                                      std::move(state));
}

absl::Status ResetStates(GraphExecutor* executor) {
  for (size_t i = 0; i < executor->states().size(); ++i) {
    INGOT_ASSIGN_OR_RETURN(Tensor state, executor->GetState(i));
    std::memset(state.mutable_raw_data(), 0, state.bytes());
  }
  return absl::OkStatus();
}

absl::Status CreateFor(const IngotModel& model, IngotExecutor** result) {
  std::unique_ptr<GraphExecutor> executor;
  {
    std::lock_guard<std::mutex> lock(model.mutex);
    executor = std::move(model.spare);
  }
  if (executor == nullptr) {
    INGOT_ASSIGN_OR_RETURN(executor,
                           CreateExecutor(model.model, model.options));
  }
  *result = new IngotExecutor{std::move(executor), {}, {}};
  return absl::OkStatus();
}

}  // namespace

extern "C" {

int32_t ingot_api_version(void) { return INGOT_API_VERSION; }

const char* ingot_last_error(void) { return LastError().c_str(); }

IngotStatus ingot_load(const char* path, const IngotLoadOptions* options,
                       IngotModel** model) {
  return Report(LoadWith(
      options,
      [path](const ingot::LoaderRegistry& loaders,
             const ingot::LoadOptions& load_options) {
        return ingot::LoadPath(path, loaders, load_options);
      },
      model));
}

IngotStatus ingot_load_memory(const void* bytes, size_t size,
                              const IngotLoadOptions* options,
                              IngotModel** model) {
  return Report(LoadWith(
      options,
      [bytes, size](const ingot::LoaderRegistry& loaders,
                    const ingot::LoadOptions& load_options) {
        return ingot::LoadMemory(ingot::Blob::FromMemory(bytes, size, nullptr),
                                 loaders, load_options);
      },
      model));
}

const char* ingot_variant(const IngotModel* model) {
  return model->model.variant.c_str();
}

void ingot_free_model(IngotModel* model) { delete model; }

const IngotTensorInfo* ingot_inputs(const IngotModel* model, int32_t* count) {
  return model->inputs.Get(count);
}

const IngotTensorInfo* ingot_outputs(const IngotModel* model, int32_t* count) {
  return model->outputs.Get(count);
}

const IngotTensorInfo* ingot_states(const IngotModel* model, int32_t* count) {
  return model->states.Get(count);
}

const char* ingot_input_type(const IngotModel* model, int32_t index) {
  return model->inputs.Type(index);
}

const char* ingot_output_type(const IngotModel* model, int32_t index) {
  return model->outputs.Type(index);
}

const char* ingot_state_type(const IngotModel* model, int32_t index) {
  return model->states.Type(index);
}

IngotStatus ingot_create_executor(const IngotModel* model,
                                  IngotExecutor** executor) {
  return Report(CreateFor(*model, executor));
}

void ingot_free_executor(IngotExecutor* executor) { delete executor; }

IngotStatus ingot_set_input(IngotExecutor* executor, int32_t index,
                            const DLTensor* tensor) {
  return Report(SetInput(executor, index, tensor));
}

IngotStatus ingot_get_state(IngotExecutor* executor, int32_t index,
                            DLTensor* tensor) {
  return Report(ShowState(executor, index, tensor));
}

IngotStatus ingot_set_state(IngotExecutor* executor, int32_t index,
                            const DLTensor* tensor) {
  return Report(SetState(executor, index, tensor));
}

IngotStatus ingot_reset_states(IngotExecutor* executor) {
  return Report(ResetStates(executor->executor.get()));
}

IngotStatus ingot_prepare(IngotExecutor* executor) {
  return Report(executor->executor->Prepare());
}

IngotStatus ingot_run(IngotExecutor* executor) {
  return Report(executor->executor->Run());
}

IngotStatus ingot_get_output(IngotExecutor* executor, int32_t index,
                             DLTensor* tensor) {
  return Report(ShowOutput(executor, index, tensor));
}

IngotStatus ingot_export_output(IngotExecutor* executor, int32_t index,
                                DLManagedTensor** tensor) {
  return Report(ExportOutput(*executor, index, tensor));
}

}  // extern "C"
