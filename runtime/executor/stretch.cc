#include "runtime/executor/stretch.h"

#include <cstdint>
#include <utility>

#include "base/status_macros.h"

namespace ingot {

absl::Status Stretch::Run() {
  if (!may_record_) return RunSteps();
  if (!AreInPlace()) {
    recorded_ = nullptr;
    return RunSteps();
  }
  if (recorded_ == nullptr) {
    INGOT_ASSIGN_OR_RETURN(recorded_,
                           stream_.RecordWork([this] { return RunSteps(); }));
    if (recorded_ == nullptr) {
      may_record_ = false;
      return RunSteps();
    }
  }
  return recorded_->Queue();
}

absl::Status Stretch::RunSteps() {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (absl::Status made = steps_[i]->Run(); !made.ok()) {
      return at_step_(first_ + i, made);
    }
  }
  return absl::OkStatus();
}

bool Stretch::AreInPlace() {
  bool same = addresses_.size() == arguments_.size();
  addresses_.resize(arguments_.size());
  for (size_t i = 0; i < arguments_.size(); ++i) {
    same = same && addresses_[i] == arguments_[i]->data;
    addresses_[i] = arguments_[i]->data;
  }
  return same;
}

std::vector<Stretch> FindStretches(
    const Plan& plan, BoundPlan& bound,
    absl::Span<const std::unique_ptr<Step>> steps,
    const std::vector<bool>& waits, const FrameContext& context,
    const std::function<absl::Status(size_t, const absl::Status&)>& at_step) {
  std::vector<Stretch> found;
  const auto device_of = [&](size_t i) -> uint32_t {
    const PlanCall& call = plan.calls(static_cast<int>(i));
    return call.has_function() && !waits[i] ? call.device() : 0;
  };
  for (size_t first = 0, end = 0; first < steps.size(); first = end) {
    const uint32_t device = device_of(first);
    for (end = first + 1; end < steps.size() && device_of(end) == device;) {
      ++end;
    }
    if (device == 0 || end - first < 2) continue;
    std::vector<Step*> of_stretch;
    std::vector<const DLTensor*> arguments;
    for (size_t i = first; i < end; ++i) {
      of_stretch.push_back(steps[i].get());
      for (const uint32_t t : plan.calls(static_cast<int>(i)).args()) {
        arguments.push_back(bound.tensor(t));
      }
    }
    found.emplace_back(first, std::move(of_stretch), std::move(arguments),
                       context.streams[device].get(), at_step);
  }
  return found;
}

}  // namespace ingot
