#include "backends/testing/checked_executor.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "backends/testing/check_main.h"
#include "base/status_macros.h"

namespace ingot::testing_support {
namespace {

class CheckedExecutor final : public GraphExecutor {
 public:
  CheckedExecutor(LoadedModel model, std::unique_ptr<GraphExecutor> executor)
      : model_(std::move(model)),
        executor_(std::move(executor)),
        inputs_given_(executor_->inputs().size()) {}

  using GraphExecutor::Run;
  using GraphExecutor::SetInput;

  absl::Span<const TensorInfo> inputs() const override {
    return executor_->inputs();
  }
  absl::Span<const TensorInfo> outputs() const override {
    return executor_->outputs();
  }
  absl::Span<const TensorInfo> states() const override {
    return executor_->states();
  }
  absl::StatusOr<Tensor> GetState(size_t index) override {
    return executor_->GetState(index);
  }
  absl::Status SetState(size_t index, Tensor tensor) override {
    return executor_->SetState(index, std::move(tensor));
  }
  absl::Status SetInput(size_t index, Tensor tensor) override {
    if (index < inputs_given_.size()) inputs_given_[index] = tensor;
    return executor_->SetInput(index, std::move(tensor));
  }
  absl::Status SetInputSequence(size_t index,
                                TensorSequence sequence) override {
    return executor_->SetInputSequence(index, std::move(sequence));
  }

  absl::Status Prepare() override { return executor_->Prepare(); }

  absl::Status Run() override {
    // An input may be a view of an output, which the run changes.
    std::vector<Tensor> given;
    for (const Tensor& input : inputs_given_) {
      given.emplace_back();
      if (!input.defined()) continue;
      INGOT_ASSIGN_OR_RETURN(given.back(), input.Clone());
    }
    INGOT_RETURN_IF_ERROR(executor_->Run());
    std::vector<Tensor> results;
    for (size_t i = 0; i < outputs().size(); ++i) {
      INGOT_ASSIGN_OR_RETURN(Tensor result, executor_->GetOutput(i));
      results.push_back(std::move(result));
    }
    return CheckMain(model_, given, results);
  }

  absl::StatusOr<Tensor> GetOutput(size_t index) const override {
    return executor_->GetOutput(index);
  }
  absl::StatusOr<TensorSequence> GetOutputSequence(
      size_t index) const override {
    return executor_->GetOutputSequence(index);
  }
  size_t storage_bytes() const override { return executor_->storage_bytes(); }

 private:
  const LoadedModel model_;
  const std::unique_ptr<GraphExecutor> executor_;
  std::vector<Tensor> inputs_given_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GraphExecutor>> CreateCheckedExecutor(
    const LoadedModel& model, const ExecutorOptions& options) {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateExecutor(model, options));
  if (!HasMain(model)) return executor;
  return std::make_unique<CheckedExecutor>(model, std::move(executor));
}

}  // namespace ingot::testing_support
