#include "runtime/executor/carried.h"

#include <cstring>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "runtime/executor/body.h"
#include "runtime/executor/elements.h"

namespace ingot {

absl::StatusOr<CarriedValues> CarriedValues::Make(const CallSite& site,
                                                  int first, Frame* body) {
  CarriedValues carried(site.bound, &body->bound());
  BoundPlan& inner = body->bound();
  const Plan& plan = inner.plan();
  const int count = static_cast<int>(site.call().loop().carried());
  std::set<uint32_t> with_buffers;
  for (int i = 0; i < count; ++i) {
    carried.values_.emplace_back();
    Value& value = carried.values_.back();
    value.operand = site.arg(first + i);
    value.result = site.result(i);
    value.output = plan.outputs(1 + i);
    value.is_sequence = inner.is_sequence(value.output);
    if (value.is_sequence) {
      value.moves_operand = IsUpdatedInPlace(site.call(), first + i);
      value.moves_output = CanMoveOutput(plan, 1 + i, 1 + count);
      continue;
    }
    const uint32_t root = inner.root(value.output);
    const PlanTensor& place = plan.tensors(static_cast<int>(root));
    if (place.has_storage() && with_buffers.insert(root).second) {
      INGOT_ASSIGN_OR_RETURN(int buffers, inner.GiveTwoBuffers(root));
      carried.switched_.push_back(buffers);
    }
    // Inputs: the number of the iteration, the carried values, those that stay.
    const auto own = static_cast<uint32_t>(1 + i);
    value.is_copied = place.has_input() && place.input() != own &&
                      place.input() <= static_cast<uint32_t>(count);
  }
  return carried;
}

void CarriedValues::Start() {
  for (Value& value : values_) {
    if (!value.is_sequence) {
      value.now = *outer_->tensor(value.operand);
    } else if (value.moves_operand) {
      value.sequence = std::move(*outer_->sequence(value.operand));
    } else {
      value.sequence = *outer_->sequence(value.operand);
    }
  }
}

void CarriedValues::Pass() {
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].is_sequence) {
      body_->SetInputSequence(1 + i, std::move(values_[i].sequence));
    } else {
      body_->SetInputView(1 + i, values_[i].now);
    }
  }
}

absl::Status CarriedValues::Take() {
  for (Value& value : values_) {
    if (value.is_sequence) {
      PlanSequence* sequence = body_->sequence(value.output);
      if (value.moves_output) {
        value.sequence = std::move(*sequence);
      } else {
        value.sequence = *sequence;
      }
      continue;
    }
    value.now = *body_->tensor(value.output);
    if (!value.is_copied) continue;
    // The buffer that the body did not read, if it read one of them.
    Arena& copy = value.copies[value.current ^= 1];
    const size_t bytes = BytesOf(value.now);
    INGOT_RETURN_IF_ERROR(copy.Reserve(bytes));
    if (bytes > 0) std::memcpy(copy.data(), DataOf(value.now), bytes);
    value.now.data = copy.data();
    value.now.byte_offset = 0;
  }
  for (int buffers : switched_) {
    INGOT_RETURN_IF_ERROR(body_->SwitchBuffers(buffers));
  }
  return absl::OkStatus();
}

void CarriedValues::Finish(std::vector<DLTensor>* values) {
  for (Value& value : values_) {
    values->push_back(value.now);
    if (value.is_sequence)
      *outer_->sequence(value.result) = std::move(value.sequence);
  }
}

size_t CarriedValues::storage_bytes() const {
  size_t bytes = 0;
  for (const Value& value : values_) {
    bytes += value.copies[0].bytes() + value.copies[1].bytes();
  }
  return bytes;
}

}  // namespace ingot
