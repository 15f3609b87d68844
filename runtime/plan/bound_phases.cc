// Binding: the values of symbols, and the shapes that follow from them.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/plan/bound_plan.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/types.h"

namespace ingot {

absl::Status BoundPlan::Bind() {
  if (!inputs_set_) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_given_[i]) {
        return absl::FailedPreconditionError(absl::StrCat(
            "input ", i, " ('", plan_->tensors(plan_->inputs(i)).name(),
            "') was not set"));
      }
    }
    INGOT_RETURN_IF_ERROR(MakeStates());
    inputs_set_ = true;
  }
  if (phases_[0].bound) return absl::OkStatus();
  absl::Status status = BindSymbols();
  if (status.ok()) status = Bind(&phases_[0]);
  return status;
}

absl::Status BoundPlan::BindPhase(int index, absl::Span<const int64_t> values) {
  Phase& phase = phases_[index];
  for (size_t i = 0; i < phase.symbols.size(); ++i) {
    int64_t& symbol = symbols_[phase.symbols[i]];
    if (symbol != values[i]) phase.bound = false;
    symbol = values[i];
    INGOT_RETURN_IF_ERROR(CheckBound(phase.symbols[i], -1));
  }
  return phase.bound ? absl::OkStatus() : Bind(&phase);
}

int64_t BoundPlan::DimBefore(int phase, const DimExpr& dim) const {
  std::vector<int64_t> symbols = symbols_;
  // Phase 0 has begun, whoever asks.
  if (phase > 0) {
    for (int symbol : phases_[phase].symbols) symbols[symbol] = 0;
  }
  // One without a value, of those, counts as 0, too.
  ComputeSymbols(phases_[phase], &symbols).IgnoreError();
  absl::StatusOr<int64_t> value = EvaluateDimExpr(dim, symbols);
  return value.ok() ? std::max<int64_t>(*value, 0) : 0;
}

// Checks that a symbol's value is not below its lower bound.
absl::Status BoundPlan::CheckBound(int symbol, int input) const {
  const PlanSymbol& declared = plan_->symbols(symbol);
  if (symbols_[symbol] >= declared.lower_bound()) return absl::OkStatus();
  const std::string source =
      input < 0
          ? ""
          : absl::StrCat(" of input '",
                         plan_->tensors(plan_->inputs(input)).name(), "'");
  return absl::InvalidArgumentError(absl::StrCat(
      "the dimension ", declared.name(), source, " would be ", symbols_[symbol],
      ", less than ", declared.lower_bound(), ", the least it can be"));
}

absl::Status BoundPlan::Bind(Phase* phase) {
  // Sizes of later phases may follow from these symbols too.
  for (size_t p = phase - phases_.data(); p < phases_.size(); ++p) {
    phases_[p].bound = false;
  }
  absl::Status status = ComputeSymbols(*phase, &symbols_);
  for (size_t i = 0; status.ok() && i < phase->shaped.size(); ++i) {
    const int tensor = phase->shaped[i];
    status = BindType(plan_->tensors(tensor).type());
    if (!status.ok()) status = AtTensor(tensor, status);
  }
  if (status.ok() && phase == phases_.data()) status = CheckInputShapes();
  if (status.ok()) status = CheckRequirements(*phase);
  if (status.ok()) status = BindStorage(phase);
  if (status.ok()) status = BindBuffers(*phase);
  if (status.ok()) status = BindOutputs(phase);
  phase->bound = status.ok();
  return status;
}

absl::Status BoundPlan::ComputeSymbols(const Phase& phase,
                                       std::vector<int64_t>* symbols) const {
  absl::Status status;
  for (int i : phase.computed) {
    const PlanSymbol& symbol = plan_->symbols(i);
    const absl::StatusOr<int64_t> value =
        EvaluateDimExpr(symbol.value(), *symbols);
    (*symbols)[i] = value.ok() ? *value : 0;
    if (!value.ok()) {
      status.Update(Annotate(
          value.status(), absl::StrCat("plan: symbol '", symbol.name(), "'")));
    }
  }
  return status;
}

absl::Status BoundPlan::BindSymbols() {
  constexpr int64_t kUnbound = -1;
  for (int symbol : phases_[0].symbols) symbols_[symbol] = kUnbound;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const PlanTensor& declared = plan_->tensors(plan_->inputs(i));
    const PlanType& type = PlanTypeOf(*plan_, declared);
    for (int d = 0; d < type.shape_size(); ++d) {
      if (type.shape(d).op() != DimExpr::SYMBOL) continue;
      const int64_t symbol = type.shape(d).value();
      const int64_t value = input_shapes_[i][d];
      if (symbols_[symbol] == kUnbound) {
        symbols_[symbol] = value;
        binders_[symbol] = static_cast<int>(i);
        INGOT_RETURN_IF_ERROR(
            CheckBound(static_cast<int>(symbol), static_cast<int>(i)));
      } else if (symbols_[symbol] != value) {
        const uint32_t first = plan_->inputs(binders_[symbol]);
        return absl::InvalidArgumentError(absl::StrCat(
            "input '", declared.name(), "' has ", value, " as dimension ", d,
            ", but ", plan_->symbols(static_cast<int>(symbol)).name(), " is ",
            symbols_[symbol], " in input '", plan_->tensors(first).name(),
            "'"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status BoundPlan::CheckInputShapes() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const int whole = static_cast<int>(plan_->inputs(i));
    // One that was never set has a shape that no symbol is in.
    if (!inputs_set_ || Shape(whole) == input_shapes_[i]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("input '", plan_->tensors(whole).name(), "': expected ",
                     TypeString(dtype(whole), Shape(whole)), ", got ",
                     TypeString(dtype(whole), input_shapes_[i])));
  }
  return absl::OkStatus();
}

absl::Status BoundPlan::CheckRequirements(const Phase& phase) const {
  for (int i : phase.requirements) {
    const PlanRequirement& requirement = plan_->requirements(i);
    INGOT_ASSIGN_OR_RETURN(const int64_t left,
                           EvaluateDimExpr(requirement.left(), symbols_));
    INGOT_ASSIGN_OR_RETURN(const int64_t right,
                           EvaluateDimExpr(requirement.right(), symbols_));
    if (left == right) continue;
    if (requirement.or_one() && (left == 1 || right == 1)) continue;
    const std::vector<std::string> names = SymbolNames(*plan_);
    auto text = [&](const DimExpr& dim, int64_t value) {
      return HasSymbols(dim) ? absl::StrCat(DimExprToString(dim, names), " (",
                                            value, " here)")
                             : absl::StrCat(value);
    };
    return absl::InvalidArgumentError(
        absl::StrCat("dimensions ", text(requirement.left(), left), " and ",
                     text(requirement.right(), right), " must be equal",
                     requirement.or_one() ? ", or one of them 1," : "", " for ",
                     requirement.source()));
  }
  return absl::OkStatus();
}

absl::Status BoundPlan::BindType(uint32_t index) {
  const PlanType& declared = plan_->types(static_cast<int>(index));
  Type& type = types_[index];
  const int rank = declared.shape_size();
  for (int d = 0; d < rank; ++d) {
    INGOT_ASSIGN_OR_RETURN(type.dims[d],
                           EvaluateDimExpr(declared.shape(d), symbols_));
  }
  INGOT_ASSIGN_OR_RETURN(
      type.bytes, CountBytes(type.dtype, absl::MakeSpan(type.dims, rank)));
  uint64_t stride = 1;  // wraps only where there are no elements
  for (int d = rank; d-- > 0;) {
    type.dims[rank + d] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(type.dims[d], 1));
  }
  return absl::OkStatus();
}

}  // namespace ingot
