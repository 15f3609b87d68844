#include "runtime/bound_plan.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/dim_expr.h"
#include "runtime/plan_check.h"

namespace ingot {

absl::Status BoundPlan::Annotate(int tensor, const absl::Status& status) const {
  return absl::Status(status.code(), absl::StrCat("plan: tensor '",
                                                  plan_.tensors(tensor).name(),
                                                  "': ", status.message()));
}

absl::Status BoundPlan::Init(
    const Plan& plan,
    const std::function<absl::StatusOr<Tensor>(absl::string_view)>& constants) {
  plan_ = plan;
  // Whoever runs the bodies has them.
  plan_.clear_bodies();
  InitPhases();
  absl::Status status = InitTensors();
  if (!status.ok()) return status;
  status = InitConstants(constants);
  if (!status.ok()) return status;
  const bool fixed = std::none_of(when_.symbols.begin(), when_.symbols.end(),
                                  [](int phase) { return phase == 0; });
  return fixed ? Bind(&phases_[0]) : absl::OkStatus();
}

void BoundPlan::InitPhases() {
  when_ = FindPhases(plan_);
  phases_.resize(when_.count);
  sizes_.resize(plan_.storage_size());
  for (int i = 0; i < plan_.storage_size(); ++i) {
    phases_[when_.storages[i]].storages.push_back(i);
  }
  for (int i = 0; i < plan_.tensors_size(); ++i) {
    const PlanTensor& tensor = plan_.tensors(i);
    phases_[when_.tensors[i]].settled.push_back(i);
    if (tensor.place_case() == PlanTensor::kStorage) {
      phases_[when_.storages[tensor.storage()]].placed.push_back(i);
    }
    if (tensor.same_bytes_as() > 0) {
      const int other = static_cast<int>(tensor.same_bytes_as() - 1);
      phases_[std::max(when_.tensors[i], when_.tensors[other])]
          .sized_like.push_back(i);
    }
  }
  for (int i = 0; i < plan_.outputs_size(); ++i) {
    if (is_list(plan_.outputs(i))) continue;
    phases_[when_.tensors[plan_.outputs(i)]].outputs.push_back(i);
  }
  for (int i = 0; i < plan_.calls_size(); ++i) {
    if (!SharesStorage(plan_.calls(i))) continue;
    int phase = 0;
    for (uint32_t t : plan_.calls(i).args()) {
      phase = std::max(phase, when_.tensors[t]);
    }
    phases_[phase].in_place.push_back(i);
  }
  for (int i = 0; i < plan_.requirements_size(); ++i) {
    phases_[when_.requirements[i]].requirements.push_back(i);
  }
}

absl::Status BoundPlan::InitTensors() {
  const int count = plan_.tensors_size();
  inputs_.resize(plan_.inputs_size());
  input_shapes_.resize(plan_.inputs_size());
  input_tensors_.resize(plan_.inputs_size());
  symbols_.resize(plan_.symbols_size());
  outputs_.resize(plan_.outputs_size());
  tensors_.resize(count);
  lists_.resize(count);
  inputs_given_.resize(plan_.inputs_size());
  dtypes_.resize(count);
  bytes_.resize(count);
  size_t dims = 0;
  for (const PlanTensor& tensor : plan_.tensors()) dims += tensor.shape_size();
  dims_.resize(2 * dims);
  int64_t* next = dims_.data();
  for (int i = 0; i < count; ++i) {
    const PlanTensor& tensor = plan_.tensors(i);
    absl::StatusOr<DataType> dtype = PlanDataType(tensor.dtype());
    if (!dtype.ok()) return Annotate(i, dtype.status());
    dtypes_[i] = *dtype;
    DLTensor& dl = tensors_[i];
    dl = DLTensor{};
    dl.device = Device::Cpu().dl();
    dl.dtype = DLDataType{dtype->code, dtype->bits, dtype->lanes};
    dl.ndim = tensor.shape_size();
    dl.shape = next;
    dl.strides = next + dl.ndim;
    next += 2 * dl.ndim;
    if (tensor.place_case() == PlanTensor::kInput) {
      input_tensors_[tensor.input()].push_back(i);
    }
    if (std::any_of(tensor.shape().begin(), tensor.shape().end(), HasSymbols)) {
      phases_[when_.tensors[i]].tensors.push_back(i);
    } else {
      absl::Status status = BindShape(i);
      if (!status.ok()) return status;
    }
  }
  for (const std::vector<int>& views : input_tensors_) {
    for (int view : views) {
      const uint32_t whole = plan_.inputs(plan_.tensors(view).input());
      if (dtypes_[view] != dtypes_[whole]) {
        return Annotate(view, absl::InvalidArgumentError(
                                  "it is a view of an input of another type"));
      }
    }
  }
  for (int i = 0; i < plan_.outputs_size(); ++i) {
    const uint32_t t = plan_.outputs(i);
    if (!is_list(t) && plan_.tensors(t).place_case() != PlanTensor::kStorage) {
      aliases_.push_back(Alias{i, t});
    }
  }
  return absl::OkStatus();
}

absl::Status BoundPlan::InitConstants(
    const std::function<absl::StatusOr<Tensor>(absl::string_view)>& constants) {
  std::map<std::string, Tensor> found;
  for (int i = 0; i < plan_.tensors_size(); ++i) {
    const PlanTensor& tensor = plan_.tensors(i);
    if (tensor.place_case() != PlanTensor::kConstant) continue;
    auto [it, is_new] = found.emplace(tensor.constant(), Tensor());
    if (is_new) {
      absl::StatusOr<Tensor> constant =
          constants == nullptr
              ? absl::NotFoundError(absl::StrCat("there is no constant '",
                                                 tensor.constant(), "'"))
              : constants(tensor.constant());
      if (!constant.ok()) return Annotate(i, constant.status());
      if (!constant->defined() || !constant->device().is_cpu()) {
        return Annotate(i, absl::InvalidArgumentError(
                               absl::StrCat("the constant '", tensor.constant(),
                                            "' is not a tensor on a CPU")));
      }
      it->second = *constant;
      constants_.push_back(*std::move(constant));
    }
    const Tensor& constant = it->second;
    // A view is compared with a tensor before it once both have a shape.
    const bool is_view = tensor.same_bytes_as() > 0;
    if (constant.dtype() != dtypes_[i] ||
        (!is_view && constant.bytes() != bytes_[i])) {
      return Annotate(i, absl::InvalidArgumentError(absl::StrCat(
                             "expected ", TypeString(dtypes_[i], Shape(i)),
                             ", but the constant '", tensor.constant(), "' is ",
                             constant.TypeString())));
    }
    tensors_[i].data = const_cast<void*>(constant.raw_data());
  }
  return absl::OkStatus();
}

bool BoundPlan::Owns(const Tensor& tensor) const {
  const auto within = [&tensor](const void* begin, uint64_t bytes) {
    const auto a = reinterpret_cast<uintptr_t>(tensor.raw_data());
    const auto b = reinterpret_cast<uintptr_t>(begin);
    return a < b + bytes && b < a + tensor.bytes();
  };
  for (const Phase& phase : phases_) {
    if (phase.arena != nullptr &&
        within(phase.arena.get(), phase.arena_bytes)) {
      return true;
    }
  }
  return std::any_of(aliases_.begin(), aliases_.end(), [&](const Alias& alias) {
    const Tensor& output = outputs_[alias.output];
    return output.defined() && within(output.raw_data(), output.bytes());
  });
}

size_t BoundPlan::storage_bytes() const {
  size_t bytes = 0;
  for (const Phase& phase : phases_) bytes += phase.arena_bytes;
  return bytes;
}

void BoundPlan::SetInput(size_t index, Tensor tensor) {
  SetInputView(index, *tensor.dl());
  inputs_[index] = std::move(tensor);
}

void BoundPlan::SetInputView(size_t index, const DLTensor& view) {
  const auto shape = absl::MakeConstSpan(view.shape, view.ndim);
  if (Shape(plan_.inputs(index)) != shape) phases_[0].bound = false;
  input_shapes_[index].assign(shape.begin(), shape.end());
  inputs_given_[index] = true;
  void* data = static_cast<char*>(view.data) + view.byte_offset;
  for (int t : input_tensors_[index]) tensors_[t].data = data;
}

void BoundPlan::SetInputList(size_t index, TensorList list) {
  lists_[plan_.inputs(index)] = std::move(list);
  inputs_given_[index] = true;
}

absl::Status BoundPlan::Bind() {
  if (!inputs_set_) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_given_[i]) {
        return absl::FailedPreconditionError(absl::StrCat(
            "input ", i, " ('", plan_.tensors(plan_.inputs(i)).name(),
            "') was not set"));
      }
    }
    inputs_set_ = true;
  }
  if (phases_[0].bound) return absl::OkStatus();
  absl::Status status = BindSymbols();
  if (status.ok()) status = Bind(&phases_[0]);
  return status;
}

absl::Status BoundPlan::BindPhase(int call, absl::Span<const int64_t> values) {
  const PlanCall& binder = plan_.calls(call);
  Phase& phase = phases_[when_.calls[call]];
  for (int i = 0; i < binder.binds_size(); ++i) {
    int64_t& symbol = symbols_[binder.binds(i).symbol()];
    if (symbol != values[i]) phase.bound = false;
    symbol = values[i];
    if (values[i] < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the dimension ", plan_.symbols(binder.binds(i).symbol()),
          " would be ", values[i]));
    }
  }
  return phase.bound ? absl::OkStatus() : Bind(&phase);
}

int64_t BoundPlan::DimBefore(int call, const DimExpr& dim) const {
  std::vector<int64_t> symbols = symbols_;
  for (const PlanBind& bind : plan_.calls(call).binds()) {
    symbols[bind.symbol()] = 0;
  }
  absl::StatusOr<int64_t> value = EvaluateDimExpr(dim, symbols);
  return value.ok() ? std::max<int64_t>(*value, 0) : 0;
}

absl::Status BoundPlan::Bind(Phase* phase) {
  // Sizes of later phases may follow from these symbols too.
  for (size_t p = phase - phases_.data(); p < phases_.size(); ++p) {
    phases_[p].bound = false;
  }
  absl::Status status;
  for (size_t i = 0; status.ok() && i < phase->tensors.size(); ++i) {
    status = BindShape(phase->tensors[i]);
  }
  if (status.ok() && phase == phases_.data()) status = CheckInputShapes();
  if (status.ok()) status = CheckRequirements(*phase);
  if (status.ok()) status = BindStorage(phase);
  if (status.ok()) status = BindOutputs(phase);
  phase->bound = status.ok();
  return status;
}

absl::Status BoundPlan::BindSymbols() {
  constexpr int64_t kUnbound = -1;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    if (when_.symbols[i] == 0) symbols_[i] = kUnbound;
  }
  std::vector<int> binder(symbols_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const PlanTensor& declared = plan_.tensors(plan_.inputs(i));
    for (int d = 0; d < declared.shape_size(); ++d) {
      if (declared.shape(d).op() != DimExpr::SYMBOL) continue;
      const int64_t symbol = declared.shape(d).value();
      const int64_t value = input_shapes_[i][d];
      if (symbols_[symbol] == kUnbound) {
        symbols_[symbol] = value;
        binder[symbol] = static_cast<int>(i);
      } else if (symbols_[symbol] != value) {
        const uint32_t first = plan_.inputs(binder[symbol]);
        return absl::InvalidArgumentError(absl::StrCat(
            "input '", declared.name(), "' has ", value, " as dimension ", d,
            ", but ", plan_.symbols(symbol), " is ", symbols_[symbol],
            " in input '", plan_.tensors(first).name(), "'"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status BoundPlan::CheckInputShapes() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const int whole = static_cast<int>(plan_.inputs(i));
    // One that was never set has a shape that no symbol is in.
    if (!inputs_set_ || Shape(whole) == input_shapes_[i]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("input '", plan_.tensors(whole).name(), "': expected ",
                     TypeString(dtypes_[whole], Shape(whole)), ", got ",
                     TypeString(dtypes_[whole], input_shapes_[i])));
  }
  return absl::OkStatus();
}

absl::Status BoundPlan::CheckRequirements(const Phase& phase) const {
  for (int i : phase.requirements) {
    const PlanRequirement& requirement = plan_.requirements(i);
    absl::StatusOr<int64_t> left =
        EvaluateDimExpr(requirement.left(), symbols_);
    absl::StatusOr<int64_t> right =
        EvaluateDimExpr(requirement.right(), symbols_);
    if (!left.ok()) return left.status();
    if (!right.ok()) return right.status();
    if (*left == *right) continue;
    if (requirement.or_one() && (*left == 1 || *right == 1)) continue;
    const std::vector<std::string> names(plan_.symbols().begin(),
                                         plan_.symbols().end());
    auto text = [&](const DimExpr& dim, int64_t value) {
      return HasSymbols(dim) ? absl::StrCat(DimExprToString(dim, names), " (",
                                            value, " here)")
                             : absl::StrCat(value);
    };
    return absl::InvalidArgumentError(
        absl::StrCat("dimensions ", text(requirement.left(), *left), " and ",
                     text(requirement.right(), *right), " must be equal",
                     requirement.or_one() ? ", or one of them 1," : "", " for ",
                     requirement.source()));
  }
  return absl::OkStatus();
}

absl::Status BoundPlan::BindShape(int index) {
  const PlanTensor& tensor = plan_.tensors(index);
  DLTensor& dl = tensors_[index];
  for (int d = 0; d < dl.ndim; ++d) {
    absl::StatusOr<int64_t> dim = EvaluateDimExpr(tensor.shape(d), symbols_);
    if (!dim.ok()) return Annotate(index, dim.status());
    dl.shape[d] = *dim;
  }
  absl::StatusOr<size_t> bytes = CountBytes(dtypes_[index], Shape(index));
  if (!bytes.ok()) return Annotate(index, bytes.status());
  bytes_[index] = *bytes;
  uint64_t stride = 1;  // wraps only where there are no elements
  for (int d = dl.ndim; d-- > 0;) {
    dl.strides[d] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(dl.shape[d], 1));
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
