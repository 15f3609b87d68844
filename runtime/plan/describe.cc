#include "runtime/plan/describe.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/data_type.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/types.h"

namespace ingot {
namespace {

// The value of an expression that names no symbol.
std::optional<int64_t> Known(const DimExpr& expr) {
  if (HasSymbols(expr)) return std::nullopt;
  const absl::StatusOr<int64_t> value = EvaluateDimExpr(expr, {});
  return value.ok() ? std::optional<int64_t>(*value) : std::nullopt;
}

}  // namespace

std::string TypeToString(const Plan& plan, const PlanTensor& tensor,
                         absl::Span<const std::string> symbols) {
  const PlanType& type = PlanTypeOf(plan, tensor);
  DataType dtype;
  dtype.code = static_cast<uint8_t>(type.dtype().code());
  dtype.bits = static_cast<uint8_t>(type.dtype().bits());
  if (tensor.is_sequence()) {
    return absl::StrCat("sequence<", dtype.ToString(), ">");
  }
  std::vector<std::string> dims;
  for (const DimExpr& dim : type.shape()) {
    dims.push_back(DimExprToString(dim, symbols));
  }
  return absl::StrCat(dtype.ToString(), "[", absl::StrJoin(dims, ", "), "]");
}

std::string StepToString(const PlanCall& call) {
  if (call.has_function()) return call.function();
  if (call.has_branch()) return "if";
  if (call.has_loop()) return "loop";
  if (call.has_sequence()) return call.sequence().op();
  if (call.has_random_state()) return "random_state";
  if (call.has_bind_dims()) return "bind_dims";
  return call.has_copy() ? "copy" : "nothing";
}

void AddNodesOfFunctions(const Plan& plan,
                         std::map<std::string, std::string>* nodes) {
  for (const PlanCall& call : plan.calls()) {
    if (!call.has_function() || call.source().empty()) continue;
    std::string& known = (*nodes)[call.function()];
    // Thousands of calls of one function would say no more.
    constexpr size_t kMostBytes = 1000;
    if (known.size() > kMostBytes || absl::StrContains(known, call.source())) {
      continue;
    }
    absl::StrAppend(&known, known.empty() ? "" : ", ", call.source());
  }
  for (const Plan& body : plan.bodies()) AddNodesOfFunctions(body, nodes);
}

std::optional<int64_t> KnownBytes(const Plan& plan, const PlanTensor& tensor) {
  if (tensor.is_sequence()) return std::nullopt;
  const PlanType& type = PlanTypeOf(plan, tensor);
  int64_t bytes = (type.dtype().bits() + 7) / 8;
  for (const DimExpr& dim : type.shape()) {
    const std::optional<int64_t> extent = Known(dim);
    if (!extent || __builtin_mul_overflow(bytes, *extent, &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

std::optional<int64_t> KnownBytes(const PlanStorage& storage) {
  int64_t largest = 0;
  for (const DimExpr& bytes : storage.bytes()) {
    const std::optional<int64_t> size = Known(bytes);
    if (!size) return std::nullopt;
    largest = std::max(largest, *size);
  }
  return largest;
}

}  // namespace ingot
