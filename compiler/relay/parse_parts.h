// The parts of the text form that stand inside of functions: dimensions, types
// and attributes. Private to this folder; parser.h is the interface.
#ifndef INGOT_COMPILER_RELAY_PARSE_PARTS_H_
#define INGOT_COMPILER_RELAY_PARSE_PARTS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "base/text/token_parser.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"

namespace ingot::relay {

class PartsParser : protected text::TokenParser {
 protected:
  explicit PartsParser(absl::string_view text);

  absl::StatusOr<int64_t> ParseInt();
  absl::StatusOr<double> ParseFloat();
  absl::StatusOr<Shape> ParseShape();
  absl::StatusOr<TensorType> ParseType();
  // type, or (type, …).
  absl::StatusOr<std::vector<TensorType>> ParseTypes();
  // {name=value, …}, with the kinds that `op` (may be null) defines.
  absl::StatusOr<Attrs> ParseAttrs(const OpDef* op);

  std::unique_ptr<Module> module_ = std::make_unique<Module>();

 private:
  absl::StatusOr<Dim> ParseSum(int depth);
  absl::StatusOr<Dim> ParseProduct(int depth);
  absl::StatusOr<Dim> ParseAtom(int depth);
  absl::StatusOr<Dim> ParseNumber(bool negative);
  absl::StatusOr<Dim> ParseComparison(const Dim& a, int depth);
  absl::StatusOr<Dim> ParseDimCall(const text::Token& word, int depth);
  template <typename T, typename F>
  absl::StatusOr<AttrValue> ParseListOf(const F& item);
  absl::StatusOr<AttrValue> ParseAttr(AttrKind kind);
  AttrKind GuessKind() const;

  int dim_terms_ = 0;  // of the dimension that is being read
};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PARSE_PARTS_H_
