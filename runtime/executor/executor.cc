#include "runtime/executor/executor.h"

#include <cstdint>
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
#include "base/status_macros.h"
#include "runtime/device_stream.h"
#include "runtime/executor/frame.h"
#include "runtime/plan/check.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/types.h"

namespace ingot {
namespace {

absl::StatusOr<TensorInfo> Describe(const Plan& plan, uint32_t index,
                                    absl::Span<const std::string> symbols) {
  const PlanTensor& tensor = plan.tensors(index);
  TensorInfo info;
  info.name = tensor.name();
  const PlanType& type = PlanTypeOf(plan, tensor);
  INGOT_ASSIGN_OR_RETURN(info.dtype, PlanDataType(type.dtype()));
  info.is_sequence = tensor.is_sequence();
  for (const DimExpr& dim : type.shape()) {
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
  PlanExecutor(SharedPlan plan, ExecutorOptions options)
      : plan_(std::move(plan)),
        pool_(std::move(options.pool)),
        context_{nullptr,
                 nullptr,
                 options.profiler,
                 std::move(options.observer),
                 options.max_storage_bytes,
                 options.random_seed,
                 options.max_iterations,
                 0,
                 std::move(options.devices),
                 {},
                 {}},
        frame_(&context_, /*keeps_outputs=*/true) {
    if (pool_ == nullptr && options.threads > 1) {
      pool_ = std::make_shared<ThreadPool>(options.threads);
    }
  }

  absl::Status Init(std::shared_ptr<Module> host,
                    const ConstantLookup& constants) {
    const Plan& plan = *plan_;
    INGOT_RETURN_IF_ERROR(CheckPlan(plan));
    if (context_.devices.empty()) context_.devices = {OpenDevice::Cpu()};
    const int given = static_cast<int>(context_.devices.size());
    if (given < plan.devices_size()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the plan needs a device of kind '", plan.devices(given).kind(),
          "' for the target key '", plan.devices(given).target_key(),
          "', and this program has opened none"));
    }
    context_.streams.emplace_back();
    for (int i = 1; i < plan.devices_size(); ++i) {
      INGOT_ASSIGN_OR_RETURN(std::unique_ptr<DeviceStream> stream,
                             OpenStream(context_.devices[i]));
      context_.streams.push_back(std::move(stream));
    }
    context_.host = std::move(host);
    context_.constants = constants;
    const std::vector<std::string> symbols = SymbolNames(plan);
    for (uint32_t t : plan.inputs()) {
      INGOT_ASSIGN_OR_RETURN(TensorInfo info, Describe(plan, t, symbols));
      inputs_.push_back(std::move(info));
    }
    for (uint32_t t : plan.outputs()) {
      INGOT_ASSIGN_OR_RETURN(TensorInfo info, Describe(plan, t, symbols));
      outputs_.push_back(std::move(info));
    }
    for (uint32_t t : plan.states()) {
      INGOT_ASSIGN_OR_RETURN(TensorInfo info, Describe(plan, t, symbols));
      states_.push_back(std::move(info));
    }
    const absl::Status status = frame_.Init(plan);
    context_.constants = nullptr;
    context_.functions.clear();
    return status;
  }

  absl::Span<const TensorInfo> inputs() const override { return inputs_; }
  absl::Span<const TensorInfo> outputs() const override { return outputs_; }
  absl::Span<const TensorInfo> states() const override { return states_; }

  using GraphExecutor::Run;
  using GraphExecutor::SetInput;

  absl::Status SetInput(size_t index, Tensor tensor) override {
    INGOT_RETURN_IF_ERROR(CheckInput(index, tensor));
    BoundPlan& bound = frame_.bound();
    if (bound.Owns(tensor)) {
      INGOT_ASSIGN_OR_RETURN(Tensor copy, tensor.Clone());
      tensor = std::move(copy);
    }
    bound.SetInput(index, std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status SetInputSequence(size_t index,
                                TensorSequence sequence) override {
    INGOT_RETURN_IF_ERROR(CheckIndex(index));
    const TensorInfo& info = inputs_[index];
    absl::Status fits = sequence.Check();
    if (fits.ok() && info.is_sequence && sequence.dtype == info.dtype) {
      uint64_t bytes = 0;
      for (const Tensor& tensor : sequence.tensors) bytes += tensor.bytes();
      frame_.bound().SetInputSequence(index, {std::move(sequence), bytes});
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat(Expected(index), sequence.TypeString(),
                     fits.ok() ? "" : ": ", fits.message()));
  }

  absl::StatusOr<Tensor> GetState(size_t index) override {
    INGOT_RETURN_IF_ERROR(CheckState(index));
    return frame_.bound().State(index);
  }

  absl::Status SetState(size_t index, Tensor tensor) override {
    INGOT_RETURN_IF_ERROR(CheckState(index));
    const TensorInfo& info = states_[index];
    if (tensor.defined() && tensor.dtype() == info.dtype &&
        tensor.shape() == absl::MakeConstSpan(info.shape) &&
        tensor.device().is_cpu() && !tensor.read_only()) {
      frame_.bound().SetState(index, std::move(tensor));
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "state ", index, " ('", info.name, "'): expected ", info.TypeString(),
        ", got ", tensor.defined() ? tensor.TypeString() : "no tensor",
        tensor.defined() && tensor.read_only() ? ", which is read-only" : ""));
  }

  absl::Status Prepare() override {
    ran_ = false;
    return frame_.bound().Bind();
  }

  absl::Status Run() override {
    ran_ = false;
    {
      ScopedThreadPool scope(pool_.get());
      context_.iterations = 0;
      INGOT_RETURN_IF_ERROR(frame_.Run());
    }
    frame_.bound().CopyAliasedOutputs();
    ran_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> GetOutput(size_t index) const override {
    INGOT_RETURN_IF_ERROR(CheckOutput(index, /*is_sequence=*/false));
    return frame_.bound().output(index);
  }

  absl::StatusOr<TensorSequence> GetOutputSequence(
      size_t index) const override {
    INGOT_RETURN_IF_ERROR(CheckOutput(index, /*is_sequence=*/true));
    const BoundPlan& bound = frame_.bound();
    return bound.sequence(bound.plan().outputs(static_cast<int>(index)))
        ->sequence;
  }

  size_t storage_bytes() const override { return frame_.storage_bytes(); }

 private:
  absl::Status CheckIndex(size_t index) const {
    if (index < inputs_.size()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no input ", index, ", but ", inputs_.size(), " inputs"));
  }

  absl::Status CheckState(size_t index) const {
    if (index < states_.size()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no state ", index, ", but ", states_.size(), " states"));
  }

  // The beginning of an error on what was given for an input.
  std::string Expected(size_t index) const {
    return absl::StrCat("input ", index, " ('", inputs_[index].name,
                        "'): expected ", inputs_[index].TypeString(), ", got ");
  }

  absl::Status CheckOutput(size_t index, bool is_sequence) const {
    if (index >= outputs_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "there is no output ", index, ", but ", outputs_.size(), " outputs"));
    }
    if (outputs_[index].is_sequence != is_sequence) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", index, " ('", outputs_[index].name, "') is ",
                       is_sequence ? "no" : "a", " sequence"));
    }
    if (!ran_) {
      return absl::FailedPreconditionError(
          "there are no outputs before a successful run");
    }
    return absl::OkStatus();
  }

  absl::Status CheckInput(size_t index, const Tensor& tensor) const {
    INGOT_RETURN_IF_ERROR(CheckIndex(index));
    const TensorInfo& info = inputs_[index];
    if (!tensor.defined()) {
      return absl::InvalidArgumentError(
          absl::StrCat(Expected(index), "no tensor"));
    }
    bool same = !info.is_sequence && tensor.dtype() == info.dtype &&
                tensor.shape().size() == info.shape.size();
    for (size_t i = 0; same && i < info.shape.size(); ++i) {
      same = info.shape[i] < 0 || info.shape[i] == tensor.shape()[i];
    }
    if (!same) {
      return absl::InvalidArgumentError(
          absl::StrCat(Expected(index), tensor.TypeString()));
    }
    if (!tensor.device().is_cpu()) {
      return absl::InvalidArgumentError(absl::StrCat(
          Expected(index), "a tensor on ", tensor.device().ToString()));
    }
    return absl::OkStatus();
  }

  const SharedPlan plan_;
  std::shared_ptr<ThreadPool> pool_;
  FrameContext context_;
  Frame frame_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  std::vector<TensorInfo> states_;
  bool ran_ = false;
};

}  // namespace

std::string TensorInfo::TypeString() const {
  if (is_sequence) return absl::StrCat("sequence<", dtype.ToString(), ">");
  return absl::StrCat(dtype.ToString(), "[", absl::StrJoin(dims, ", "), "]");
}

absl::StatusOr<std::unique_ptr<GraphExecutor>> GraphExecutor::Create(
    SharedPlan plan, std::shared_ptr<Module> host,
    const ConstantLookup& constants, ExecutorOptions options) {
  auto executor =
      std::make_unique<PlanExecutor>(std::move(plan), std::move(options));
  INGOT_RETURN_IF_ERROR(executor->Init(std::move(host), constants));
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

absl::Status GraphExecutor::SetInputValue(size_t index,
                                          TensorOrSequence value) {
  if (auto* sequence = std::get_if<TensorSequence>(&value)) {
    return SetInputSequence(index, std::move(*sequence));
  }
  return SetInput(index, std::get<Tensor>(std::move(value)));
}

absl::StatusOr<TensorOrSequence> GraphExecutor::GetOutputValue(
    size_t index) const {
  if (index < outputs().size() && outputs()[index].is_sequence) {
    return GetOutputSequence(index);
  }
  return GetOutput(index);
}

absl::StatusOr<Tensor> GraphExecutor::CopyOutput(size_t index) const {
  INGOT_ASSIGN_OR_RETURN(Tensor view, GetOutput(index));
  return view.Clone();
}

absl::StatusOr<std::vector<Tensor>> GraphExecutor::Run(
    absl::Span<const Tensor> tensors) {
  if (tensors.size() != inputs().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected ", inputs().size(), " inputs, got ", tensors.size()));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    INGOT_RETURN_IF_ERROR(SetInput(i, tensors[i]));
  }
  INGOT_RETURN_IF_ERROR(Run());
  std::vector<Tensor> results;
  for (size_t i = 0; i < outputs().size(); ++i) {
    INGOT_ASSIGN_OR_RETURN(Tensor result, CopyOutput(i));
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace ingot
