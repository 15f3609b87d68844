#include "compiler/driver/plan/share_in_place.h"

#include "runtime/plan/types.h"
#include "runtime/plan/views.h"

namespace ingot {
namespace {

class Sharer {
 public:
  Sharer(Plan* plan, const std::vector<uint32_t>& owned_inputs)
      : plan_(plan),
        roots_(RootsOf(*plan)),
        last_read_(plan->tensors_size(), -1),
        owned_(plan->tensors_size(), false) {
    for (uint32_t input : owned_inputs) {
      const uint32_t t = plan->inputs(static_cast<int>(input));
      owned_[t] = plan->tensors(static_cast<int>(t)).is_sequence();
    }
    for (int i = 0; i < plan->calls_size(); ++i) {
      for (int k = 0; k < NumReads(plan->calls(i)); ++k) {
        last_read_[roots_[plan->calls(i).args(k)]] = i;
      }
    }
    for (uint32_t output : plan->outputs()) {
      last_read_[roots_[output]] = plan->calls_size();
    }
  }

  void Share() {
    for (int i = 0; i < plan_->calls_size(); ++i) {
      switch (plan_->calls(i).step_case()) {
        case PlanCall::kLoop:
          ShareLoop(i);
          break;
        case PlanCall::kBranch:
          ShareBranch(i);
          break;
        case PlanCall::kSequence:
          SharePair(i, 0, 0);
          break;
        default:
          break;
      }
    }
  }

 private:
  static int NumReads(const PlanCall& call) {
    return call.args_size() - static_cast<int>(call.num_outputs());
  }

  void ShareLoop(int index) {
    const PlanLoop& loop = plan_->calls(index).loop();
    const int first =
        (loop.has_max_iterations() ? 1 : 0) + (loop.has_condition() ? 1 : 0);
    for (int i = 0; i < static_cast<int>(loop.carried()); ++i) {
      SharePair(index, first + i, i);
    }
  }

  // Each sequence that is passed may become one that comes out.
  void ShareBranch(int index) {
    const PlanCall& call = plan_->calls(index);
    int operand = 1;
    for (int i = 0; i < static_cast<int>(call.num_outputs()); ++i) {
      if (!Result(call, i).is_sequence()) continue;
      while (operand < NumReads(call) && !SharePair(index, operand, i)) {
        ++operand;
      }
      ++operand;
    }
  }

  // Shares if that is possible; whether it was.
  bool SharePair(int index, int operand, int result) {
    PlanCall* call = plan_->mutable_calls(index);
    if (operand >= NumReads(*call)) return false;
    const uint32_t from = call->args(operand);
    const PlanTensor& source = plan_->tensors(static_cast<int>(from));
    const PlanTensor& target = Result(*call, result);
    const DataTypeProto& from_elements = PlanTypeOf(*plan_, source).dtype();
    const DataTypeProto& to_elements = PlanTypeOf(*plan_, target).dtype();
    const bool same_type = source.is_sequence() == target.is_sequence() &&
                           from_elements.code() == to_elements.code() &&
                           from_elements.bits() == to_elements.bits();
    if (!same_type || !IsFree(*call, index, from)) return false;
    if (!source.is_sequence() &&
        (call->has_sequence() || !SameShape(source, target))) {
      return false;
    }
    PlanInPlace* pair = call->add_in_place();
    pair->set_operand(static_cast<uint32_t>(operand));
    pair->set_result(static_cast<uint32_t>(result));
    return true;
  }

  // Whether the place of what a call reads is free afterwards.
  bool IsFree(const PlanCall& call, int index, uint32_t tensor) const {
    if (IsInPart(*plan_, tensor)) return false;
    const uint32_t root = roots_[tensor];
    const PlanTensor& place = plan_->tensors(static_cast<int>(root));
    if (last_read_[root] != index) return false;
    if (place.place_case() != PlanTensor::PLACE_NOT_SET && !owned_[root]) {
      return false;
    }
    int reads = 0;
    for (int k = 0; k < NumReads(call); ++k) {
      reads += roots_[call.args(k)] == root ? 1 : 0;
    }
    return reads == 1;
  }

  // Whether two shapes are the same whatever the symbols are. Shapes that are
  // equal but written in two ways count as different.
  bool SameShape(const PlanTensor& first, const PlanTensor& second) const {
    const PlanType& a = PlanTypeOf(*plan_, first);
    const PlanType& b = PlanTypeOf(*plan_, second);
    if (a.shape_size() != b.shape_size()) return false;
    for (int d = 0; d < a.shape_size(); ++d) {
      if (a.shape(d).SerializeAsString() != b.shape(d).SerializeAsString()) {
        return false;
      }
    }
    return true;
  }

  const PlanTensor& Result(const PlanCall& call, int i) const {
    return plan_->tensors(static_cast<int>(call.args(NumReads(call) + i)));
  }

  Plan* const plan_;
  const std::vector<uint32_t> roots_;
  std::vector<int> last_read_;  // of roots: the call, or their number
  std::vector<bool> owned_;     // inputs
};

}  // namespace

void ShareInPlace(Plan* plan, const std::vector<uint32_t>& owned_inputs) {
  Sharer(plan, owned_inputs).Share();
}

}  // namespace ingot
