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
#include "compiler/relay/ir.h"
#include "compiler/relay/lexer.h"
#include "compiler/relay/op.h"
#include "compiler/status_macros.h"

namespace ingot::relay {

// Recursive descent with one token of lookahead, the next one to consume.
class PartsParser {
 protected:
  explicit PartsParser(absl::string_view text) : lexer_(text) {}

  absl::Status Advance() { return lexer_.Next(&token_); }
  absl::Status Error(absl::string_view what) const {
    return Lexer::Error(token_, what);
  }
  // "expected …, found …".
  absl::Status Unexpected(absl::string_view expected) const;
  absl::Status Expect(absl::string_view punctuation);
  absl::Status ExpectWord(absl::string_view word);
  // Whether the token was there; then it is consumed.
  absl::StatusOr<bool> Accept(absl::string_view punctuation);
  absl::StatusOr<std::string> ExpectText(TokenKind kind,
                                         absl::string_view what);

  // item, item, … up to `close`, which is consumed.
  template <typename F>
  absl::Status List(absl::string_view close, const F& item) {
    while (!token_.Is(close)) {
      INGOT_RETURN_IF_ERROR(item());
      if (token_.Is(close)) break;
      INGOT_RETURN_IF_ERROR(Expect(","));
    }
    return Advance();
  }

  absl::StatusOr<int64_t> ParseInt();
  absl::StatusOr<double> ParseFloat();
  absl::StatusOr<Shape> ParseShape();
  absl::StatusOr<TensorType> ParseType();
  // type, or (type, …).
  absl::StatusOr<std::vector<TensorType>> ParseTypes();
  // {name=value, …}, with the kinds that `op` (may be null) defines.
  absl::StatusOr<Attrs> ParseAttrs(const OpDef* op);

  Token token_;
  std::unique_ptr<Module> module_ = std::make_unique<Module>();

 private:
  absl::StatusOr<Dim> ParseSum(int depth);
  absl::StatusOr<Dim> ParseProduct(int depth);
  absl::StatusOr<Dim> ParseAtom(int depth);
  absl::StatusOr<Dim> ParseNumber(bool negative);
  absl::StatusOr<Dim> ParseComparison(const Dim& a, int depth);
  absl::StatusOr<Dim> ParseDimCall(const Token& word, int depth);
  template <typename T, typename F>
  absl::StatusOr<AttrValue> ParseListOf(const F& item);
  absl::StatusOr<AttrValue> ParseAttr(AttrKind kind);
  AttrKind GuessKind() const;

  Lexer lexer_;
  int dim_terms_ = 0;  // of the dimension that is being read
};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PARSE_PARTS_H_
