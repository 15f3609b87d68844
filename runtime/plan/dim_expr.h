#ifndef INGOT_RUNTIME_PLAN_DIM_EXPR_H_
#define INGOT_RUNTIME_PLAN_DIM_EXPR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// Deeper expressions than this are refused.
inline constexpr int kMaxDimExprDepth = 64;

// Checks an expression that may come from anywhere: known operations, their
// number of operands, symbols below `num_symbols`, depth. InvalidArgument says
// what is wrong.
absl::Status CheckDimExpr(const DimExpr& expr, int num_symbols);

// The value of a checked expression with symbol i bound to symbols[i]. Division
// rounds down, and the remainder has the divisor's sign. InvalidArgument for
// overflow of int64 and for division by zero; also for an expression that is
// not well formed, so unchecked ones are safe.
absl::StatusOr<int64_t> EvaluateDimExpr(const DimExpr& expr,
                                        absl::Span<const int64_t> symbols);

// Whether it names any symbol.
bool HasSymbols(const DimExpr& expr);

// The latest phase of an expression's symbols, which have these; 0 without any.
uint32_t PhaseOf(const DimExpr& expr, absl::Span<const uint32_t> phases);

// The names of a plan's symbols, for DimExprToString.
std::vector<std::string> SymbolNames(const Plan& plan);

// "N*3 + 1" with the symbols' names; only as many parentheses as it takes.
std::string DimExprToString(const DimExpr& expr,
                            absl::Span<const std::string> symbols);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_DIM_EXPR_H_
