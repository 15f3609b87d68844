// The parts of a plan's text: numbers, names, dimensions, types. Private to
// this folder; plan_parser.h is the interface.
#ifndef INGOT_RUNTIME_PLAN_TEXT_PARSE_PARTS_H_
#define INGOT_RUNTIME_PLAN_TEXT_PARSE_PARTS_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/text/token_parser.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

class PlanPartsParser : protected text::TokenParser {
 protected:
  // The symbols of the plan or body that is read, by name.
  using Symbols = absl::flat_hash_map<std::string, uint32_t>;

  explicit PlanPartsParser(absl::string_view text);

  absl::StatusOr<bool> AcceptWord(absl::string_view word);

  // A number without a sign that is at most `most`.
  absl::StatusOr<uint64_t> ParseNumber(uint64_t most = UINT64_MAX);
  absl::StatusOr<uint32_t> ParseIndex();
  absl::StatusOr<int64_t> ParseInt();

  // An identifier, or a string.
  absl::StatusOr<std::string> ParseName(absl::string_view what);
  absl::StatusOr<uint32_t> ParseSymbol(const Symbols& symbols);

  absl::StatusOr<DimExpr> ParseDim(const Symbols& symbols);

  // "[dim, dim]", added to `dims`.
  absl::Status ParseDims(const Symbols& symbols,
                         google::protobuf::RepeatedPtrField<DimExpr>* dims);

  // "f32[N, 3]" or "sequence<f32>".
  absl::Status ParseType(const Symbols& symbols, PlanTensor* tensor,
                         PlanType* type);

 private:
  // An expression, and how deep its operands nest.
  struct Deep {
    DimExpr expr;
    int depth = 0;
  };
  absl::StatusOr<Deep> ParseSum(const Symbols& symbols);
  absl::StatusOr<Deep> ParseProduct(const Symbols& symbols);
  absl::StatusOr<Deep> ParseAtom(const Symbols& symbols);
  absl::StatusOr<Deep> ParseSymbolOrCall(const Symbols& symbols);
  absl::StatusOr<Deep> Combine(const text::Token& at, DimExpr::Op op, Deep a,
                               Deep b) const;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_TEXT_PARSE_PARTS_H_
