#include "compiler/tir/expr_parser.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/tir/text.h"
#include "compiler/tir/typing.h"

namespace ingot::tir {

using text::ErrorAt;
using text::Token;
using text::TokenKind;

namespace {

constexpr absl::string_view kSymbols[] = {
    "->", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "//", "(",
    ")",  "[",  "]",  "{",  "}",  ",",  ":",  "=",  "+",  "-",  "*",
    "/",  "%",  "<",  ">",  "&",  "|",  "^",  "!",  "~"};

const text::Dialect& TirDialect() {
  static const text::Dialect* const kDialect = [] {
    auto* dialect = new text::Dialect;
    dialect->comment = "#";
    dialect->symbols = kSymbols;
    dialect->word_marks = ".";
    dialect->name_marks = ".";
    dialect->quoted_names = "@";
    dialect->float_suffix = true;
    return dialect;
  }();
  return *kDialect;
}

}  // namespace

ExprParser::ExprParser(absl::string_view text)
    : TokenParser(text, TirDialect()) {}

absl::Status ExprParser::Type(DataType* type) {
  if (token_.kind == TokenKind::kWord) {
    const absl::StatusOr<DataType> parsed = DataType::Parse(token_.text);
    if (parsed.ok() && IsValueType(*parsed)) {
      *type = *parsed;
      return Advance();
    }
  }
  return Unexpected("a type");
}

absl::Status ExprParser::Lanes(int* lanes) {
  if (token_.kind != TokenKind::kInt || !absl::SimpleAtoi(token_.text, lanes) ||
      *lanes < 2 || *lanes > kMaxLanes) {
    return Unexpected(absl::StrCat("lanes from 2 to ", kMaxLanes));
  }
  return Advance();
}

absl::Status ExprParser::Finish(const Token& at, Expr e, int depth,
                                Tree* result) {
  if (depth > kMaxTextDepth) return ErrorAt(at, "nested too deeply");
  result->e = std::move(e);
  result->depth = depth;
  return absl::OkStatus();
}

absl::Status ExprParser::Expression(Tree* result) {
  return BinaryTree(1, result);
}

absl::Status ExprParser::BinaryTree(int precedence, Tree* result) {
  INGOT_RETURN_IF_ERROR(Operand(result));
  while (token_.kind == TokenKind::kSymbol) {
    BinaryOp op = BinaryOp::kAdd;
    BinarySpelling spelling{nullptr, 0};
    for (int i = 0; i < kNumBinaryOps; ++i) {
      const BinarySpelling s = SpellingOf(static_cast<BinaryOp>(i));
      if (s.precedence > 0 && token_.text == s.text) {
        op = static_cast<BinaryOp>(i);
        spelling = s;
      }
    }
    if (spelling.precedence < precedence || spelling.text == nullptr) break;
    const Token at = token_;
    INGOT_RETURN_IF_ERROR(Advance());
    Tree right;
    INGOT_RETURN_IF_ERROR(BinaryTree(spelling.precedence + 1, &right));
    INGOT_RETURN_IF_ERROR(Combine(at, op, right, result));
  }
  return absl::OkStatus();
}

absl::Status ExprParser::Combine(const Token& at, BinaryOp op,
                                 const Tree& right, Tree* result) {
  const DataType a = result->e->dtype, b = right.e->dtype;
  if (const char* error = BinaryTypeError(op, a, b)) {
    return ErrorAt(at, absl::StrCat(error, ": ", a.ToString(), " ",
                                    SpellingOf(op).text, " ", b.ToString()));
  }
  return Finish(at, MakeBinary(op, result->e, right.e),
                std::max(result->depth, right.depth) + 1, result);
}

absl::Status ExprParser::Operand(Tree* result) {
  INGOT_RETURN_IF_ERROR(Enter());
  INGOT_RETURN_IF_ERROR(OperandInside(result));
  Leave();
  return absl::OkStatus();
}

absl::Status ExprParser::OperandInside(Tree* result) {
  const Token at = token_;
  switch (token_.kind) {
    case TokenKind::kInt:
    case TokenKind::kFloat:
      return Number(/*negative=*/false, result);
    case TokenKind::kPercentName: {
      Buffer buffer;
      std::vector<Expr> indices;
      int depth = 0;
      INGOT_RETURN_IF_ERROR(Access(&buffer, &indices, &depth));
      return Finish(at, MakeLoad(std::move(buffer), std::move(indices)),
                    depth + 1, result);
    }
    case TokenKind::kWord:
      return Named(result);
    case TokenKind::kSymbol:
      break;
    default:
      return Unexpected("an expression");
  }
  if (token_.IsSymbol("(")) {
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_RETURN_IF_ERROR(Expression(result));
    return Expect(")");
  }
  for (UnaryOp op : {UnaryOp::kNeg, UnaryOp::kNot, UnaryOp::kBitNot}) {
    if (!token_.IsSymbol(SpellingOf(op))) continue;
    INGOT_RETURN_IF_ERROR(Advance());
    if (op == UnaryOp::kNeg &&
        (token_.kind == TokenKind::kInt || token_.kind == TokenKind::kFloat)) {
      return Number(/*negative=*/true, result);
    }
    INGOT_RETURN_IF_ERROR(Operand(result));
    if (const char* error = UnaryTypeError(op, result->e->dtype)) {
      return ErrorAt(at, error);
    }
    return Finish(at, MakeUnary(op, result->e), result->depth + 1, result);
  }
  return Unexpected("an expression");
}

absl::Status ExprParser::Number(bool negative, Tree* result) {
  const Token at = token_;
  const std::string text = negative ? "-" + at.text : at.text;
  if (at.kind == TokenKind::kInt) {
    int64_t value;
    if (!absl::SimpleAtoi(text, &value)) {
      return ErrorAt(at, "the integer is too large for i64");
    }
    INGOT_RETURN_IF_ERROR(Advance());
    return Finish(at, MakeInt(value), 1, result);
  }
  const bool is_f32 = text.back() == 'f';
  const char* end = text.data() + text.size() - (is_f32 ? 1 : 0);
  double value = 0;
  std::from_chars_result parsed;
  if (is_f32) {  // rounded once, not by way of a double
    float narrow = 0;
    parsed = std::from_chars(text.data(), end, narrow);
    value = narrow;
  } else {
    parsed = std::from_chars(text.data(), end, value);
  }
  if (parsed.ec == std::errc::result_out_of_range) {
    return ErrorAt(at, "the number is out of its type's range");
  }
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    return ErrorAt(at, "not a number");
  }
  INGOT_RETURN_IF_ERROR(Advance());
  return Finish(at, MakeFloat(value, DataType::Float(is_f32 ? 32 : 64)), 1,
                result);
}

absl::Status ExprParser::Constant(Expr e, Tree* result) {
  const Token at = token_;
  INGOT_RETURN_IF_ERROR(Advance());
  return Finish(at, std::move(e), 1, result);
}

absl::Status ExprParser::Named(Tree* result) {
  const Token at = token_;
  const std::string& name = at.text;
  if (name == "true") return Constant(MakeBool(true), result);
  if (name == "false") return Constant(MakeBool(false), result);
  const DataType f64 = DataType::Float(64);
  if (name == "inf" || name == "nan") {
    return Constant(
        MakeFloat(name == "inf" ? std::numeric_limits<double>::infinity()
                                : std::numeric_limits<double>::quiet_NaN(),
                  f64),
        result);
  }
  if (IsPlainName(name)) {
    auto it = vars_.find(name);
    if (it == vars_.end()) {
      if (!dims_allowed_) {
        return ErrorAt(at, absl::StrCat("'", name, "' is not defined here"));
      }
      it = vars_.emplace(name, MakeVar(name)).first;
    }
    return Constant(it->second, result);
  }
  INGOT_RETURN_IF_ERROR(Advance());
  if (!token_.IsSymbol("(")) {
    return ErrorAt(at, absl::StrCat("'", name, "' cannot stand alone"));
  }
  INGOT_RETURN_IF_ERROR(Advance());
  return CallLike(at, result);
}

absl::Status ExprParser::CallLike(const Token& at, Tree* result) {
  const std::string& name = at.text;
  const absl::StatusOr<DataType> type = DataType::Parse(name);
  if (type.ok()) return CastOf(at, *type, result);
  const bool has_lanes = name == "ramp" || name == "broadcast";
  const size_t wanted = name == "ramp" ? 2 : 1;
  std::vector<Expr> args;
  int depth = 0;
  int lanes = 0;
  while (!token_.IsSymbol(")")) {
    if (!args.empty()) INGOT_RETURN_IF_ERROR(Expect(","));
    if (has_lanes && args.size() == wanted) {
      INGOT_RETURN_IF_ERROR(Lanes(&lanes));
      break;
    }
    Tree arg;
    INGOT_RETURN_IF_ERROR(Expression(&arg));
    depth = std::max(depth, arg.depth);
    args.push_back(std::move(arg.e));
  }
  INGOT_RETURN_IF_ERROR(Expect(")"));
  const char* error = nullptr;
  Expr e;
  if (has_lanes) {
    if (lanes == 0) {
      error = "wrong number of arguments";
    } else if (name == "ramp") {
      error = RampTypeError(args[0]->dtype, args[1]->dtype, lanes);
      if (error == nullptr) e = MakeRamp(args[0], args[1], lanes);
    } else {
      error = BroadcastTypeError(args[0]->dtype, lanes);
      if (error == nullptr) e = MakeBroadcast(args[0], lanes);
    }
  } else if (name == "select") {
    error = args.size() != 3 ? "wrong number of arguments"
                             : SelectTypeError(args[0]->dtype, args[1]->dtype,
                                               args[2]->dtype);
    if (error == nullptr) e = MakeSelect(args[0], args[1], args[2]);
  } else {
    error = Operation(name, args, &e);
  }
  if (error != nullptr) {
    return ErrorAt(at, absl::StrCat("in ", name, "(…): ", error));
  }
  return Finish(at, std::move(e), depth + 1, result);
}

const char* ExprParser::Operation(const std::string& name,
                                  const std::vector<Expr>& args, Expr* e) {
  for (BinaryOp op : {BinaryOp::kMin, BinaryOp::kMax, BinaryOp::kMod}) {
    if (name != SpellingOf(op).text) continue;
    if (args.size() != 2) return "wrong number of arguments";
    const char* error = BinaryTypeError(op, args[0]->dtype, args[1]->dtype);
    if (error == nullptr) *e = MakeBinary(op, args[0], args[1]);
    return error;
  }
#define INGOT_TIR_TRY(Name, text, arity)                           \
  if (name == text) {                                              \
    const char* error = CallTypeError(Intrinsic::k##Name, args);   \
    if (error == nullptr) *e = MakeCall(Intrinsic::k##Name, args); \
    return error;                                                  \
  }
  INGOT_TIR_INTRINSICS(INGOT_TIR_TRY)
#undef INGOT_TIR_TRY
  return "no such function";
}

absl::Status ExprParser::CastOf(const Token& at, DataType type, Tree* result) {
  // The upper half of u64 has no i64 to be cast from.
  uint64_t big;
  if (type == DataType::UInt(64) && token_.kind == TokenKind::kInt &&
      absl::SimpleAtoi(token_.text, &big) &&
      big > static_cast<uint64_t>(INT64_MAX)) {
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_RETURN_IF_ERROR(Expect(")"));
    return Finish(at, MakeInt(static_cast<int64_t>(big), type), 1, result);
  }
  // f32(-inf): the sign stands before a word, not before a number.
  INGOT_RETURN_IF_ERROR(Expression(result));
  if (const char* error = CastTypeError(type, result->e->dtype)) {
    return ErrorAt(at, error);
  }
  INGOT_RETURN_IF_ERROR(Expect(")"));
  return Finish(at, MakeCast(type, result->e), result->depth + 1, result);
}

absl::Status ExprParser::Bracketed(std::vector<Expr>* exprs, int* depth) {
  INGOT_RETURN_IF_ERROR(Expect("["));
  while (!token_.IsSymbol("]")) {
    if (!exprs->empty()) INGOT_RETURN_IF_ERROR(Expect(","));
    Tree tree;
    INGOT_RETURN_IF_ERROR(Expression(&tree));
    *depth = std::max(*depth, tree.depth);
    exprs->push_back(std::move(tree.e));
  }
  return Advance();
}

absl::Status ExprParser::Access(Buffer* buffer, std::vector<Expr>* indices,
                                int* depth) {
  const Token at = token_;
  auto it = buffers_.find(at.text);
  if (it == buffers_.end()) {
    return ErrorAt(at, absl::StrCat("%", at.text, " is not defined here"));
  }
  *buffer = it->second;
  INGOT_RETURN_IF_ERROR(Advance());
  INGOT_RETURN_IF_ERROR(Bracketed(indices, depth));
  if (const char* error = IndexTypeError(*buffer, *indices)) {
    return ErrorAt(at, absl::StrCat("%", at.text, ": ", error));
  }
  return absl::OkStatus();
}

}  // namespace ingot::tir
