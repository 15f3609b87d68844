#include "runtime/plan/bound_plan.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/plan/check.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/types.h"
#include "runtime/plan/views.h"

namespace ingot {

absl::Status BoundPlan::AtTensor(int tensor, const absl::Status& status) const {
  return Annotate(status, absl::StrCat("plan: tensor '",
                                       plan_->tensors(tensor).name(), "'"));
}

absl::Status BoundPlan::Init(
    const Plan& plan,
    const std::function<absl::StatusOr<Tensor>(absl::string_view)>& constants) {
  plan_ = &plan;
  roots_ = RootsOf(plan);
  offsets_in_roots_ = OffsetsInRoots(plan);
  InitPhases();
  INGOT_RETURN_IF_ERROR(InitTypes());
  InitTensors();
  INGOT_RETURN_IF_ERROR(InitConstants(constants));
  const bool fixed = phases_[0].symbols.empty();
  return fixed ? Bind(&phases_[0]) : absl::OkStatus();
}

void BoundPlan::InitPhases() {
  phases_.resize(plan_->phases_size());
  for (int p = 0; p < plan_->phases_size(); ++p) {
    const auto& symbols = plan_->phases(p).symbols();
    phases_[p].symbols.assign(symbols.begin(), symbols.end());
    for (const OpenDevice& device : devices_) {
      phases_[p].arenas.emplace_back(device);
    }
  }
  std::vector<uint32_t> phase_of(plan_->symbols_size());
  for (int p = 0; p < plan_->phases_size(); ++p) {
    for (int symbol : phases_[p].symbols) phase_of[symbol] = p;
  }
  for (int i = 0; i < plan_->symbols_size(); ++i) {
    const PlanSymbol& symbol = plan_->symbols(i);
    if (!symbol.has_value()) continue;
    phase_of[i] = PhaseOf(symbol.value(), phase_of);
    phases_[phase_of[i]].computed.push_back(i);
  }
  symbols_.resize(plan_->symbols_size());
  binders_.resize(plan_->symbols_size());
  sizes_.resize(plan_->storage_size());
  offsets_.resize(plan_->storage_size());
  for (int i = 0; i < plan_->storage_size(); ++i) {
    phases_[plan_->storage(i).phase()].storages.push_back(i);
  }
  for (int i = 0; i < plan_->tensors_size(); ++i) {
    const PlanTensor& tensor = plan_->tensors(i);
    Phase& phase = phases_[tensor.phase()];
    phase.settled.push_back(i);
    if (tensor.has_storage()) {
      const PlanStorage& storage =
          plan_->storage(static_cast<int>(tensor.storage()));
      phases_[storage.phase()].placed.push_back(i);
    }
  }
  InitShaped();
  for (int i = 0; i < plan_->outputs_size(); ++i) {
    const uint32_t t = plan_->outputs(i);
    if (!keeps_outputs_ || is_sequence(t)) continue;
    phases_[plan_->tensors(static_cast<int>(t)).phase()].outputs.push_back(i);
    if (!Root(static_cast<int>(t)).has_storage()) aliases_.push_back({i, t});
  }
  for (int i = 0; i < plan_->calls_size(); ++i) {
    if (!SharesStorage(plan_->calls(i))) continue;
    uint32_t phase = 0;
    for (uint32_t t : plan_->calls(i).args()) {
      phase = std::max(phase, plan_->tensors(static_cast<int>(t)).phase());
    }
    phases_[phase].apart.push_back(i);
  }
  for (int i = 0; i < plan_->requirements_size(); ++i) {
    phases_[plan_->requirements(i).phase()].requirements.push_back(i);
  }
}

// Notes for each phase of which types its tensors are that have symbols.
void BoundPlan::InitShaped() {
  if (plan_->symbols_size() == 0) return;
  // The last phase in which a tensor of the type is known.
  std::vector<int> latest(plan_->types_size(), -1);
  for (size_t p = 0; p < phases_.size(); ++p) {
    for (int i : phases_[p].settled) {
      const PlanTensor& tensor = plan_->tensors(i);
      int& last = latest[tensor.type()];
      if (last == static_cast<int>(p)) continue;
      last = static_cast<int>(p);
      const auto& shape = PlanTypeOf(*plan_, tensor).shape();
      if (std::any_of(shape.begin(), shape.end(), HasSymbols)) {
        phases_[p].shaped.push_back(i);
      }
    }
  }
}

absl::Status BoundPlan::InitTypes() {
  types_.resize(plan_->types_size());
  size_t dims = 0;
  for (const PlanType& type : plan_->types()) dims += type.shape_size();
  dims_.resize(2 * dims);
  int64_t* next = dims_.data();
  for (int i = 0; i < plan_->types_size(); ++i) {
    const PlanType& type = plan_->types(i);
    types_[i].dtype = CheckedDataType(type.dtype());
    types_[i].dims = next;
    next += 2 * type.shape_size();
    if (std::any_of(type.shape().begin(), type.shape().end(), HasSymbols)) {
      continue;
    }
    const absl::Status status = BindType(static_cast<uint32_t>(i));
    if (status.ok()) continue;
    const auto& tensors = plan_->tensors();
    const auto first = std::find_if(
        tensors.begin(), tensors.end(), [i](const PlanTensor& tensor) {
          return tensor.type() == static_cast<uint32_t>(i);
        });
    return first == tensors.end()
               ? Annotate(status, absl::StrCat("plan: type ", i))
               : AtTensor(static_cast<int>(first - tensors.begin()), status);
  }
  return absl::OkStatus();
}

void BoundPlan::InitTensors() {
  const int count = plan_->tensors_size();
  inputs_.resize(plan_->inputs_size());
  input_shapes_.resize(plan_->inputs_size());
  states_.resize(plan_->states_size());
  inputs_given_.resize(plan_->inputs_size());
  outputs_.resize(plan_->outputs_size());
  tensors_.resize(count);
  const auto& tensors = plan_->tensors();
  if (std::any_of(tensors.begin(), tensors.end(),
                  [](const PlanTensor& t) { return t.is_sequence(); })) {
    sequences_.resize(count);
  }
  InitViews();
  for (int i = 0; i < count; ++i) {
    const PlanTensor& tensor = plan_->tensors(i);
    const Type& type = types_[tensor.type()];
    DLTensor& dl = tensors_[i];
    dl = DLTensor{};
    dl.device = devices_[DeviceOf(*plan_, Root(i))].device.dl();
    dl.dtype = DLDataType{type.dtype.code, type.dtype.bits, type.dtype.lanes};
    dl.ndim = PlanTypeOf(*plan_, tensor).shape_size();
    dl.shape = type.dims;
    dl.strides = type.dims + dl.ndim;
  }
}

void BoundPlan::InitViews() {
  const size_t count = roots_.size();
  first_view_.assign(count + 1, 0);
  for (size_t i = 0; i < count; ++i) {
    if (roots_[i] != i) ++first_view_[roots_[i] + 1];
  }
  for (size_t i = 0; i < count; ++i) first_view_[i + 1] += first_view_[i];
  views_.resize(first_view_[count]);
  std::vector<uint32_t> next(first_view_.begin(), first_view_.end());
  for (size_t i = 0; i < count; ++i) {
    if (roots_[i] != i) views_[next[roots_[i]]++] = static_cast<uint32_t>(i);
  }
}

absl::Status BoundPlan::InitConstants(
    const std::function<absl::StatusOr<Tensor>(absl::string_view)>& constants) {
  // One copy for each device, whatever number of tensors it is.
  absl::flat_hash_map<std::pair<absl::string_view, uint32_t>, Tensor> copies;
  for (int i = 0; i < plan_->tensors_size(); ++i) {
    const PlanTensor& tensor = plan_->tensors(i);
    if (!tensor.has_constant()) continue;
    absl::StatusOr<Tensor> constant =
        constants == nullptr
            ? absl::NotFoundError(absl::StrCat("there is no constant '",
                                               tensor.constant(), "'"))
            : constants(tensor.constant());
    if (!constant.ok()) return AtTensor(i, constant.status());
    if (!constant->defined() || !constant->device().is_cpu()) {
      return AtTensor(i, absl::InvalidArgumentError(
                             absl::StrCat("the constant '", tensor.constant(),
                                          "' is not a tensor on a CPU")));
    }
    if (constant->dtype() != dtype(i) || constant->bytes() != bytes(i)) {
      return AtTensor(i, absl::InvalidArgumentError(absl::StrCat(
                             "expected ", TypeString(dtype(i), Shape(i)),
                             ", but the constant '", tensor.constant(), "' is ",
                             constant->TypeString())));
    }
    if (tensor.device() != 0) {
      Tensor& copy = copies[{tensor.constant(), tensor.device()}];
      if (!copy.defined()) {
        constant = OnDevice(*constant, tensor.device());
        if (!constant.ok()) return AtTensor(i, constant.status());
        copy = *std::move(constant);
      }
      constant = copy;
    }
    SetData(static_cast<uint32_t>(i), const_cast<void*>(constant->raw_data()));
    constants_.push_back(*std::move(constant));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> BoundPlan::OnDevice(const Tensor& constant,
                                           uint32_t device) const {
  const OpenDevice& on = devices_[device];
  INGOT_ASSIGN_OR_RETURN(
      Tensor copy,
      Tensor::Empty(constant.dtype(), constant.shape(), on.device, on.api));
  INGOT_RETURN_IF_ERROR(on.api->CopyFromCpu(on.device, copy.mutable_raw_data(),
                                            constant.raw_data(),
                                            constant.bytes()));
  return copy;
}

void BoundPlan::SetData(uint32_t root, void* data) {
  // As a number: what an offset leads to is looked at when sizes are known.
  const auto begin = reinterpret_cast<uintptr_t>(data);
  tensors_[root].data = data;
  for (uint32_t i = first_view_[root]; i < first_view_[root + 1]; ++i) {
    const uint32_t view = views_[i];
    tensors_[view].data =
        reinterpret_cast<void*>(begin + offsets_in_roots_[view]);
  }
}

bool BoundPlan::Owns(const Tensor& tensor) const {
  const auto within = [&tensor](const void* begin, uint64_t bytes) {
    const auto a = reinterpret_cast<uintptr_t>(tensor.raw_data());
    const auto b = reinterpret_cast<uintptr_t>(begin);
    return a < b + bytes && b < a + tensor.bytes();
  };
  for (const Phase& phase : phases_) {
    const Arena& arena = phase.arenas[0];  // the CPU's
    if (arena.data() != nullptr && within(arena.data(), arena.bytes())) {
      return true;
    }
  }
  for (const Tensor& state : states_) {
    if (state.defined() && within(state.raw_data(), state.bytes())) return true;
  }
  return std::any_of(aliases_.begin(), aliases_.end(), [&](const Alias& alias) {
    const Tensor& output = outputs_[alias.output];
    return output.defined() && within(output.raw_data(), output.bytes());
  });
}

size_t BoundPlan::storage_bytes() const {
  size_t bytes = 0;
  for (const Phase& phase : phases_) bytes += phase.arena_bytes();
  for (const TwoBuffers& two : two_buffers_) {
    bytes += two.buffers[0].bytes() + two.buffers[1].bytes();
  }
  for (const Tensor& state : states_) {
    if (state.defined()) bytes += state.bytes();
  }
  return bytes;
}

void BoundPlan::SetInput(size_t index, Tensor tensor) {
  SetInputView(index, *tensor.dl());
  inputs_[index] = std::move(tensor);
}

void BoundPlan::SetInputView(size_t index, const DLTensor& view) {
  const auto shape = absl::MakeConstSpan(view.shape, view.ndim);
  if (Shape(plan_->inputs(index)) != shape) phases_[0].bound = false;
  input_shapes_[index].assign(shape.begin(), shape.end());
  inputs_given_[index] = true;
  void* data = static_cast<char*>(view.data) + view.byte_offset;
  SetData(plan_->inputs(static_cast<int>(index)), data);
}

void BoundPlan::SetInputSequence(size_t index, PlanSequence sequence) {
  sequences_[plan_->inputs(static_cast<int>(index))] = std::move(sequence);
  inputs_given_[index] = true;
}

void BoundPlan::SetState(size_t index, Tensor tensor) {
  SetData(plan_->states(static_cast<int>(index)), tensor.mutable_raw_data());
  states_[index] = std::move(tensor);
}

absl::StatusOr<Tensor> BoundPlan::State(size_t index) {
  if (states_[index].defined()) return states_[index];
  const auto t = static_cast<int>(plan_->states(static_cast<int>(index)));
  const uint64_t others = storage_bytes();
  if (bytes(t) > max_storage_bytes_ - std::min(max_storage_bytes_, others)) {
    return AtTensor(t,
                    absl::ResourceExhaustedError(absl::StrCat(
                        "the state needs ", bytes(t), " bytes beside ", others,
                        ", more than the limit of ", max_storage_bytes_)));
  }
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype(t), Shape(t)));
  std::memset(tensor.mutable_raw_data(), 0, tensor.bytes());
  SetState(index, tensor);
  return tensor;
}

absl::Status BoundPlan::MakeStates() {
  for (size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].defined()) INGOT_RETURN_IF_ERROR(State(i).status());
  }
  return absl::OkStatus();
}

void BoundPlan::CopyAliasedOutputs() {
  for (const Alias& alias : aliases_) {
    Tensor& output = outputs_[alias.output];
    if (output.bytes() == 0) continue;
    std::memcpy(output.mutable_raw_data(), tensors_[alias.tensor].data,
                output.bytes());
  }
}

}  // namespace ingot
