#ifndef INGOT_COMPILER_TIR_EXPR_PARSER_H_
#define INGOT_COMPILER_TIR_EXPR_PARSER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "base/text/token_parser.h"
#include "compiler/tir/ir.h"

namespace ingot::tir {

// An expression and how deep its tree is.
struct Tree {
  Expr e;
  int depth = 1;
};

// The half of the parser that reads expressions, with the state that both
// halves share.
class ExprParser : protected text::TokenParser {
 protected:
  explicit ExprParser(absl::string_view text);

  absl::Status Type(DataType* type);
  absl::Status Lanes(int* lanes);

  absl::Status Finish(const text::Token& at, Expr e, int depth, Tree* result);
  absl::Status Expression(Tree* result);
  // Parses a tree of operators that bind at least as tightly as `precedence`.
  absl::Status BinaryTree(int precedence, Tree* result);
  // *result = *result op right.
  absl::Status Combine(const text::Token& at, BinaryOp op, const Tree& right,
                       Tree* result);
  absl::Status Operand(Tree* result);
  absl::Status OperandInside(Tree* result);
  absl::Status Number(bool negative, Tree* result);
  absl::Status Constant(Expr e, Tree* result);
  absl::Status Named(Tree* result);
  // name(…), after the bracket.
  absl::Status CallLike(const text::Token& at, Tree* result);
  // min, max, rem and the intrinsics; null, or what is wrong.
  static const char* Operation(const std::string& name,
                               const std::vector<Expr>& args, Expr* e);
  absl::Status CastOf(const text::Token& at, DataType type, Tree* result);
  absl::Status Bracketed(std::vector<Expr>* exprs, int* depth);
  absl::Status Access(Buffer* buffer, std::vector<Expr>* indices, int* depth);

  bool dims_allowed_ = false;  // whether a new name is a symbolic dimension
  std::map<std::string, VarPtr> vars_;
  std::map<std::string, Buffer> buffers_;
};

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_EXPR_PARSER_H_
