#include "runtime/executor.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/bound_plan.h"
#include "runtime/dim_expr.h"
#include "runtime/error.h"
#include "runtime/function.h"
#include "runtime/plan_check.h"

namespace ingot {
namespace {

// One call, ready to be made.
struct Step {
  TVMFFISafeCallType call;
  void* handle;
  const TVMFFIAny* args;
  int32_t num_args;
};

absl::StatusOr<TensorInfo> Describe(const Plan& plan, uint32_t index,
                                    absl::Span<const std::string> symbols) {
  const PlanTensor& tensor = plan.tensors(index);
  TensorInfo info;
  info.name = tensor.name();
  absl::StatusOr<DataType> dtype = PlanDataType(tensor.dtype());
  if (!dtype.ok()) return dtype.status();
  info.dtype = *dtype;
  for (const DimExpr& dim : tensor.shape()) {
    int64_t value = -1;
    if (!HasSymbols(dim)) {
      absl::StatusOr<int64_t> fixed = EvaluateDimExpr(dim, {});
      if (!fixed.ok() || *fixed < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("plan: tensor '", info.name, "' has the dimension ",
                         DimExprToString(dim, symbols)));
      }
      value = *fixed;
    }
    info.shape.push_back(value);
    info.dims.push_back(value >= 0 ? absl::StrCat(value)
                                   : DimExprToString(dim, symbols));
  }
  return info;
}

class PlanExecutor final : public GraphExecutor {
 public:
  explicit PlanExecutor(ExecutorOptions options)
      : pool_(std::move(options.pool)),
        profiler_(options.profiler),
        bound_(options.max_storage_bytes) {
    if (pool_ == nullptr && options.threads > 1) {
      pool_ = std::make_shared<ThreadPool>(options.threads);
    }
  }

  absl::Status Init(const Plan& plan, std::shared_ptr<Module> host,
                    const ConstantLookup& constants) {
    absl::Status status = CheckPlan(plan);
    if (!status.ok()) return status;
    host_ = std::move(host);
    const std::vector<std::string> symbols(plan.symbols().begin(),
                                           plan.symbols().end());
    for (uint32_t t : plan.inputs()) {
      absl::StatusOr<TensorInfo> info = Describe(plan, t, symbols);
      if (!info.ok()) return info.status();
      inputs_.push_back(*std::move(info));
    }
    for (uint32_t t : plan.outputs()) {
      absl::StatusOr<TensorInfo> info = Describe(plan, t, symbols);
      if (!info.ok()) return info.status();
      outputs_.push_back(*std::move(info));
    }
    status = bound_.Init(plan, constants);
    if (!status.ok()) return status;
    return InitSteps();
  }

  absl::Span<const TensorInfo> inputs() const override { return inputs_; }
  absl::Span<const TensorInfo> outputs() const override { return outputs_; }

  using GraphExecutor::Run;
  using GraphExecutor::SetInput;

  absl::Status SetInput(size_t index, Tensor tensor) override {
    absl::Status status = CheckInput(index, tensor);
    if (!status.ok()) return status;
    if (bound_.Owns(tensor)) {
      absl::StatusOr<Tensor> copy = tensor.Clone();
      if (!copy.ok()) return copy.status();
      tensor = *std::move(copy);
    }
    bound_.SetInput(index, std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status Run() override {
    ran_ = false;
    absl::Status status = bound_.Bind();
    if (!status.ok()) return status;
    {
      ScopedThreadPool scope(pool_.get());
      status = profiler_ == nullptr ? RunSteps() : RunStepsProfiled();
    }
    if (!status.ok()) return status;
    bound_.CopyAliasedOutputs();
    ran_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> GetOutput(size_t index) const override {
    if (index >= outputs_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "there is no output ", index, ", but ", outputs_.size(), " outputs"));
    }
    if (!ran_) {
      return absl::FailedPreconditionError(
          "there are no outputs before a successful run");
    }
    return bound_.output(index);
  }

  size_t storage_bytes() const override { return bound_.storage_bytes(); }

 private:
  absl::Status InitSteps() {
    const Plan& plan = bound_.plan();
    size_t total = 0;
    for (const PlanCall& call : plan.calls()) total += call.args_size();
    args_.reserve(total);  // so that it stays where it is
    for (int i = 0; i < plan.calls_size(); ++i) {
      const PlanCall& call = plan.calls(i);
      absl::StatusOr<Function> function =
          host_ == nullptr ? absl::NotFoundError("there is no host module")
                           : host_->Find(call.function());
      if (!function.ok()) return Annotate(i, function.status());
      steps_.push_back(Step{function->call(), function->handle(),
                            args_.data() + args_.size(), call.args_size()});
      functions_.push_back(*std::move(function));
      for (uint32_t t : call.args()) {
        args_.push_back(AnyTensor(bound_.tensor(t)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckInput(size_t index, const Tensor& tensor) const {
    if (index >= inputs_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "there is no input ", index, ", but ", inputs_.size(), " inputs"));
    }
    const TensorInfo& info = inputs_[index];
    const std::string expected =
        absl::StrCat("input ", index, " ('", info.name, "'): expected ",
                     info.TypeString(), ", got ");
    if (!tensor.defined()) {
      return absl::InvalidArgumentError(absl::StrCat(expected, "no tensor"));
    }
    bool same = tensor.dtype() == info.dtype &&
                tensor.shape().size() == info.shape.size();
    for (size_t i = 0; same && i < info.shape.size(); ++i) {
      same = info.shape[i] < 0 || info.shape[i] == tensor.shape()[i];
    }
    if (!same) {
      return absl::InvalidArgumentError(
          absl::StrCat(expected, tensor.TypeString()));
    }
    if (!tensor.device().is_cpu()) {
      return absl::InvalidArgumentError(
          absl::StrCat(expected, "a tensor on ", tensor.device().ToString()));
    }
    return absl::OkStatus();
  }

  absl::Status RunSteps() {
    for (const Step& step : steps_) {
      TVMFFIAny result = AnyNone();
      const int code =
          step.call(step.handle, step.args, step.num_args, &result);
      if (result.type_index >= kTVMFFIStaticObjectBegin) ReleaseAny(&result);
      if (code != 0) {
        return Annotate(&step - steps_.data(), TakeLastErrorAsStatus());
      }
    }
    return absl::OkStatus();
  }

  absl::Status RunStepsProfiled() {
    const int64_t start = profiler_->Now();
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      TVMFFIAny result = AnyNone();
      const int64_t before = profiler_->Now();
      const int code =
          step.call(step.handle, step.args, step.num_args, &result);
      const int64_t after = profiler_->Now();
      ReleaseAny(&result);
      const PlanCall& call = bound_.plan().calls(i);
      profiler_->Record(call.function(), call.source(), before, after - before);
      if (code != 0) return Annotate(i, TakeLastErrorAsStatus());
    }
    const std::string& entry = bound_.plan().entry();
    profiler_->Record(entry.empty() ? "run" : entry, "", start,
                      profiler_->Now() - start);
    return absl::OkStatus();
  }

  absl::Status Annotate(size_t step, const absl::Status& status) const {
    const PlanCall& call = bound_.plan().calls(step);
    return absl::Status(status.code(),
                        absl::StrCat("call ", step, " (", call.function(),
                                     call.source().empty() ? "" : ", for ",
                                     call.source(), "): ", status.message()));
  }

  std::shared_ptr<ThreadPool> pool_;
  Profiler* profiler_;
  std::shared_ptr<Module> host_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  BoundPlan bound_;
  std::vector<Function> functions_;
  std::vector<TVMFFIAny> args_;
  std::vector<Step> steps_;
  bool ran_ = false;
};

}  // namespace

std::string TensorInfo::TypeString() const {
  return absl::StrCat(dtype.ToString(), "[", absl::StrJoin(dims, ", "), "]");
}

absl::StatusOr<std::unique_ptr<GraphExecutor>> GraphExecutor::Create(
    const Plan& plan, std::shared_ptr<Module> host,
    const ConstantLookup& constants, ExecutorOptions options) {
  auto executor = std::make_unique<PlanExecutor>(std::move(options));
  absl::Status status = executor->Init(plan, std::move(host), constants);
  if (!status.ok()) return status;
  return executor;
}

absl::Status GraphExecutor::SetInput(absl::string_view name, Tensor tensor) {
  for (size_t i = 0; i < inputs().size(); ++i) {
    if (inputs()[i].name == name) return SetInput(i, std::move(tensor));
  }
  std::vector<std::string> names;
  for (const TensorInfo& input : inputs()) {
    names.push_back(absl::StrCat("'", input.name, "'"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no input '", name, "'; inputs: ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<Tensor> GraphExecutor::CopyOutput(size_t index) const {
  absl::StatusOr<Tensor> view = GetOutput(index);
  if (!view.ok()) return view;
  return view->Clone();
}

absl::StatusOr<std::vector<Tensor>> GraphExecutor::Run(
    absl::Span<const Tensor> tensors) {
  if (tensors.size() != inputs().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected ", inputs().size(), " inputs, got ", tensors.size()));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    absl::Status status = SetInput(i, tensors[i]);
    if (!status.ok()) return status;
  }
  absl::Status status = Run();
  if (!status.ok()) return status;
  std::vector<Tensor> results;
  for (size_t i = 0; i < outputs().size(); ++i) {
    absl::StatusOr<Tensor> result = CopyOutput(i);
    if (!result.ok()) return result.status();
    results.push_back(*std::move(result));
  }
  return results;
}

}  // namespace ingot
