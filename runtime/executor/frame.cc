#include "runtime/executor/frame.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/plan/copies_to_wait_for.h"

namespace ingot {
namespace {

absl::StatusOr<std::unique_ptr<Step>> MakeStep(const CallSite& site) {
  switch (site.call().step_case()) {
    case PlanCall::kFunction:
      return MakeFunctionStep(site);
    case PlanCall::kBranch:
      return MakeBranchStep(site);
    case PlanCall::kLoop:
      return MakeLoopStep(site);
    case PlanCall::kSequence:
      return MakeSequenceStep(site);
    case PlanCall::kRandomState:
      return MakeRandomStateStep(site);
    case PlanCall::kBindDims:
      return MakeBindDimsStep(site);
    case PlanCall::kCopy:
      return MakeCopyStep(site);
    case PlanCall::STEP_NOT_SET:
      break;
  }
  return absl::InternalError("a call of no kind");
}

// A call's name for errors and profiles.
absl::string_view NameOf(const PlanCall& call) {
  switch (call.step_case()) {
    case PlanCall::kFunction:
      return call.function();
    case PlanCall::kBranch:
      return "if";
    case PlanCall::kLoop:
      return "loop";
    case PlanCall::kSequence:
      return call.sequence().op();
    case PlanCall::kRandomState:
      return "random_state";
    case PlanCall::kBindDims:
      return "bind_dims";
    case PlanCall::kCopy:
      return "copy";
    case PlanCall::STEP_NOT_SET:
      break;
  }
  return "";
}

}  // namespace

absl::Status Frame::Init(const Plan& plan) {
  INGOT_RETURN_IF_ERROR(bound_.Init(plan, context_->constants));
  std::vector<std::vector<int>> waits = CopiesToWaitFor(plan);
  events_.resize(waits.size());
  std::vector<bool> is_waiting;
  for (const std::vector<int>& copies : waits) {
    is_waiting.push_back(!copies.empty());
  }
  int phase = 0;
  for (int i = 0; i < plan.calls_size(); ++i) {
    const bool binds = plan.calls(i).binds_size() > 0;
    if (binds) ++phase;
    const CallSite site{plan,     i,      binds ? phase : 0,   &bound_,
                        context_, &runs_, std::move(waits[i]), &events_};
    absl::StatusOr<std::unique_ptr<Step>> step = MakeStep(site);
    if (!step.ok()) return AtStep(i, step.status());
    steps_.push_back(AfterCopies(*std::move(step), site));
  }
  stretches_ = FindStretches(plan, bound_, steps_, is_waiting, *context_,
                             [this](size_t step, const absl::Status& status) {
                               return AtStep(step, status);
                             });
  return absl::OkStatus();
}

size_t Frame::storage_bytes() const {
  size_t bytes = bound_.storage_bytes();
  for (const auto& step : steps_) bytes += step->storage_bytes();
  return bytes;
}

absl::Status Frame::Run() {
  INGOT_RETURN_IF_ERROR(bound_.Bind());
  ++runs_;
  absl::Status status = context_->observer != nullptr   ? RunObserved()
                        : context_->profiler != nullptr ? RunProfiled()
                                                        : RunSteps();
  // Whoever called this may then touch all memory. A stream that failed tells
  // its error, and can be used again.
  for (const std::unique_ptr<DeviceStream>& stream : context_->streams) {
    if (stream != nullptr) status.Update(stream->Synchronize());
  }
  return status;
}

absl::Status Frame::RunSteps() {
  auto stretch = stretches_.begin();
  for (size_t i = 0; i < steps_.size();) {
    if (stretch != stretches_.end() && stretch->first() == i) {
      INGOT_RETURN_IF_ERROR(stretch->Run());
      i += stretch->size();
      ++stretch;
      continue;
    }
    if (absl::Status made = steps_[i]->Run(); !made.ok()) {
      return AtStep(i, made);
    }
    ++i;
  }
  return absl::OkStatus();
}

absl::Status Frame::RunProfiled() {
  Profiler* profiler = context_->profiler;
  const int64_t start = profiler->Now();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const int64_t before = profiler->Now();
    absl::Status status = steps_[i]->Run();
    if (status.ok()) status = Synchronize(i);
    const int64_t after = profiler->Now();
    const PlanCall& call = bound_.plan().calls(static_cast<int>(i));
    profiler->Record(NameOf(call), call.source(), before, after - before);
    if (!status.ok()) return AtStep(i, status);
  }
  const std::string& entry = bound_.plan().entry();
  profiler->Record(entry.empty() ? "run" : entry, "", start,
                   profiler->Now() - start);
  return absl::OkStatus();
}

absl::Status Frame::RunObserved() {
  std::vector<const DLTensor*> args;
  for (size_t i = 0; i < steps_.size(); ++i) {
    absl::Status status = steps_[i]->Run();
    if (status.ok()) status = Synchronize(i);
    if (!status.ok()) return AtStep(i, status);
    const PlanCall& call = bound_.plan().calls(static_cast<int>(i));
    if (!call.has_function()) continue;
    args.clear();
    std::vector<Tensor> copies;  // of what is not in the CPU's memory
    for (uint32_t t : call.args()) {
      args.push_back(bound_.tensor(t));
      if (call.device() == 0) continue;
      INGOT_ASSIGN_OR_RETURN(Tensor copy, CopyOf(call.device(), *args.back()));
      args.back() = copy.dl();
      copies.push_back(std::move(copy));
    }
    INGOT_RETURN_IF_ERROR(context_->observer(call, args));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Frame::CopyOf(uint32_t device,
                                     const DLTensor& tensor) const {
  DeviceStream& stream = *context_->streams[device];
  const DataType dtype{tensor.dtype.code, tensor.dtype.bits,
                       tensor.dtype.lanes};
  INGOT_ASSIGN_OR_RETURN(
      Tensor copy,
      Tensor::Empty(dtype, absl::MakeConstSpan(tensor.shape, tensor.ndim)));
  INGOT_RETURN_IF_ERROR(
      stream.CopyToCpu(copy.mutable_raw_data(), tensor.data, copy.bytes()));
  INGOT_RETURN_IF_ERROR(stream.Synchronize());
  return copy;
}

absl::Status Frame::Synchronize(size_t step) {
  const uint32_t device = bound_.plan().calls(static_cast<int>(step)).device();
  return device == 0 ? absl::OkStatus()
                     : context_->streams[device]->Synchronize();
}

absl::Status Frame::AtStep(size_t step, const absl::Status& status) const {
  const PlanCall& call = bound_.plan().calls(static_cast<int>(step));
  return Annotate(status, absl::StrCat("call ", step, " (", NameOf(call),
                                       call.source().empty() ? "" : ", for ",
                                       call.source(), ")"));
}

}  // namespace ingot
