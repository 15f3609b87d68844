#include "compiler/relay/parse_parts.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/relay/dim_text.h"

namespace ingot::relay {

using text::ErrorAt;
using text::Token;
using text::TokenKind;

namespace {

constexpr int kMaxDepth = 100;  // of parentheses in one dimension

constexpr absl::string_view kSymbols[] = {
    "->", "==", "!=", "<=", ">=", "(", ")", "[", "]", "{", "}", ",",
    ":",  "=",  "+",  "-",  "*",  "/", "%", "<", ">", "#", "@"};

const text::Dialect& RelayDialect() {
  static const text::Dialect* const kDialect = [] {
    auto* dialect = new text::Dialect;
    dialect->comment = "//";
    dialect->symbols = kSymbols;
    dialect->name_marks = "./$";
    dialect->names_begin_anyhow = true;
    dialect->quoted_names = "%@";
    return dialect;
  }();
  return *kDialect;
}

bool IsFloat(const Token& token) {
  return token.kind == TokenKind::kWord || token.kind == TokenKind::kFloat;
}

// Arithmetic is for integers only; comparisons give bool.
bool AreIntegers(const Dim& a, const Dim& b) {
  return a->dtype == DataType::Int(64) && b->dtype == DataType::Int(64);
}

}  // namespace

PartsParser::PartsParser(absl::string_view text)
    : TokenParser(text, RelayDialect()) {}

// ------------------------------------------------------------- dimensions

absl::StatusOr<Dim> PartsParser::ParseSum(int depth) {
  INGOT_ASSIGN_OR_RETURN(Dim left, ParseProduct(depth));
  while (token_.IsSymbol("+") || token_.IsSymbol("-")) {
    const bool plus = token_.IsSymbol("+");
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_ASSIGN_OR_RETURN(Dim right, ParseProduct(depth));
    if (!AreIntegers(left, right)) return Error("a truth value in a sum");
    left = plus ? left + right : left - right;
  }
  return left;
}

absl::StatusOr<Dim> PartsParser::ParseProduct(int depth) {
  INGOT_ASSIGN_OR_RETURN(Dim left, ParseAtom(depth));
  while (token_.IsSymbol("*") || token_.IsSymbol("/") || token_.IsSymbol("%")) {
    const std::string op = token_.text;
    INGOT_RETURN_IF_ERROR(Advance());
    const Token at = token_;
    INGOT_ASSIGN_OR_RETURN(Dim right, ParseAtom(depth));
    if (!AreIntegers(left, right)) return Error("a truth value in a product");
    if (op == "*") {
      left = left * right;
      continue;
    }
    if (tir::IsConstInt(right, 0)) return ErrorAt(at, "division by zero");
    left = op == "/" ? left / right : left % right;
  }
  return left;
}

absl::StatusOr<Dim> PartsParser::ParseAtom(int depth) {
  if (depth > kMaxDepth) return Error("parentheses go too deep");
  // Terms group to the left, so that their number is how deep the tree is.
  if (++dim_terms_ > kMaxDimSize) {
    return Error(absl::StrCat("a dimension is a formula of more than ",
                              kMaxDimSize, " terms"));
  }
  if (token_.IsSymbol("-")) {
    INGOT_RETURN_IF_ERROR(Advance());
    if (token_.IsNumber()) return ParseNumber(true);
    INGOT_ASSIGN_OR_RETURN(Dim value, ParseAtom(depth + 1));
    if (!AreIntegers(value, value)) return Error("a truth value in a sum");
    return tir::MakeInt(0) - value;
  }
  if (token_.IsSymbol("(")) {
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_ASSIGN_OR_RETURN(Dim value, ParseSum(depth + 1));
    if (token_.IsSymbol(")")) {
      INGOT_RETURN_IF_ERROR(Advance());
      return value;
    }
    return ParseComparison(value, depth);
  }
  if (token_.IsNumber()) return ParseNumber(false);
  if (token_.kind == TokenKind::kString) {
    INGOT_ASSIGN_OR_RETURN(std::string name,
                           ExpectText(TokenKind::kString, "a symbol"));
    return Dim(module_->Symbol(name));
  }
  if (token_.kind != TokenKind::kWord) return Unexpected("a dimension");
  const Token word = token_;
  INGOT_RETURN_IF_ERROR(Advance());
  if (!token_.IsSymbol("(")) return Dim(module_->Symbol(word.text));
  return ParseDimCall(word, depth);
}

absl::StatusOr<Dim> PartsParser::ParseNumber(bool negative) {
  int64_t value;
  if (!absl::SimpleAtoi(absl::StrCat(negative ? "-" : "", token_.text),
                        &value)) {
    return Error(absl::StrCat("'", token_.text, "' is not an integer"));
  }
  INGOT_RETURN_IF_ERROR(Advance());
  return tir::MakeInt(value);
}

// After `(a`: `op b)`.
absl::StatusOr<Dim> PartsParser::ParseComparison(const Dim& a, int depth) {
  const Token op = token_;
  INGOT_RETURN_IF_ERROR(Advance());
  INGOT_ASSIGN_OR_RETURN(Dim b, ParseSum(depth + 1));
  if (!AreIntegers(a, b)) {
    return ErrorAt(op, "only integers compare");
  }
  INGOT_RETURN_IF_ERROR(Expect(")"));
  if (op.IsSymbol("==")) return tir::Eq(a, b);
  if (op.IsSymbol("!=")) return tir::Ne(a, b);
  if (op.IsSymbol("<")) return tir::Lt(a, b);
  if (op.IsSymbol("<=")) return tir::Le(a, b);
  if (op.IsSymbol(">")) return tir::Gt(a, b);
  if (op.IsSymbol(">=")) return tir::Ge(a, b);
  return ErrorAt(op, absl::StrCat("expected ')', found '", op.text, "'"));
}

absl::StatusOr<Dim> PartsParser::ParseDimCall(const Token& word, int depth) {
  INGOT_RETURN_IF_ERROR(Expect("("));
  std::vector<Dim> args;
  INGOT_RETURN_IF_ERROR(List(")", [&]() -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(Dim arg, ParseSum(depth + 1));
    args.push_back(std::move(arg));
    return absl::OkStatus();
  }));
  auto typed = [&](size_t count, DataType first, DataType rest) {
    if (args.size() != count) return false;
    for (size_t i = 0; i < count; ++i) {
      if (args[i]->dtype != (i == 0 ? first : rest)) return false;
    }
    return true;
  };
  const DataType i64 = DataType::Int(64), boolean = DataType::Bool();
  if (word.text == "select" && typed(3, boolean, i64)) {
    return tir::MakeSelect(args[0], args[1], args[2]);
  }
  if (word.text == "not" && typed(1, boolean, boolean)) {
    return tir::MakeUnary(tir::UnaryOp::kNot, args[0]);
  }
  if (typed(2, boolean, boolean)) {
    if (word.text == "and") return tir::And(args[0], args[1]);
    if (word.text == "or") return tir::Or(args[0], args[1]);
  }
  if (typed(2, i64, i64)) {
    const bool division = word.text == "div" || word.text == "mod";
    if (division && tir::IsConstInt(args[1], 0)) {
      return ErrorAt(word, "division by zero");
    }
    if (word.text == "min") return tir::Min(args[0], args[1]);
    if (word.text == "max") return tir::Max(args[0], args[1]);
    if (division) {
      return tir::MakeBinary(
          word.text == "div" ? tir::BinaryOp::kDiv : tir::BinaryOp::kMod,
          args[0], args[1]);
    }
  }
  return ErrorAt(word,
                 absl::StrCat("no function '", word.text, "' of ", args.size(),
                              " such operands in a dimension"));
}

absl::StatusOr<Shape> PartsParser::ParseShape() {
  INGOT_RETURN_IF_ERROR(Expect("["));
  Shape shape;
  INGOT_RETURN_IF_ERROR(List("]", [&]() -> absl::Status {
    const Token at = token_;
    dim_terms_ = 0;
    INGOT_ASSIGN_OR_RETURN(Dim dim, ParseSum(0));
    if (dim->dtype != DataType::Int(64)) {
      return ErrorAt(at, "a dimension is an integer");
    }
    shape.push_back(std::move(dim));
    return absl::OkStatus();
  }));
  return shape;
}

absl::StatusOr<TensorType> PartsParser::ParseType() {
  const bool is_sequence = token_.IsWord("sequence");
  if (is_sequence) {
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_RETURN_IF_ERROR(Expect("<"));
  }
  const Token at = token_;
  INGOT_ASSIGN_OR_RETURN(std::string word,
                         ExpectText(TokenKind::kWord, "a type"));
  absl::StatusOr<DataType> dtype = DataType::Parse(word);
  if (!dtype.ok() || dtype->lanes != 1 || dtype->code == DataType::kHandle) {
    return ErrorAt(at, absl::StrCat("'", word, "' is not a type"));
  }
  if (is_sequence) {
    INGOT_RETURN_IF_ERROR(Expect(">"));
    return SequenceType(*dtype);
  }
  INGOT_ASSIGN_OR_RETURN(Shape shape, ParseShape());
  if (shape.size() > kMaxRank) {
    return ErrorAt(at,
                   absl::StrCat("the type has ", shape.size(), " dimensions; ",
                                kMaxRank, " are supported"));
  }
  int64_t bytes = static_cast<int64_t>(dtype->bytes());
  for (const Dim& dim : shape) {
    int64_t value;
    if (!tir::AsConstInt(dim, &value) || value == 0) continue;
    if (value < 0 || bytes > (int64_t{1} << 48) / value) {
      return ErrorAt(at, "the type is of an impossible size");
    }
    bytes *= value;
  }
  return TensorType{*dtype, std::move(shape)};
}

// type, or (type, …).
absl::StatusOr<std::vector<TensorType>> PartsParser::ParseTypes() {
  std::vector<TensorType> types;
  if (!token_.IsSymbol("(")) {
    INGOT_ASSIGN_OR_RETURN(TensorType type, ParseType());
    types.push_back(std::move(type));
    return types;
  }
  INGOT_RETURN_IF_ERROR(Advance());
  INGOT_RETURN_IF_ERROR(List(")", [&]() -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(TensorType type, ParseType());
    types.push_back(std::move(type));
    return absl::OkStatus();
  }));
  return types;
}

// ------------------------------------------------------------- attributes

absl::StatusOr<double> PartsParser::ParseFloat() {
  INGOT_ASSIGN_OR_RETURN(bool negative, Accept("-"));
  double value;
  if ((!token_.IsNumber() && token_.kind != TokenKind::kWord) ||
      !absl::SimpleAtod(token_.text, &value)) {
    return Unexpected("a number");
  }
  INGOT_RETURN_IF_ERROR(Advance());
  return negative ? -value : value;
}

absl::StatusOr<int64_t> PartsParser::ParseInt() {
  INGOT_ASSIGN_OR_RETURN(bool negative, Accept("-"));
  int64_t value;
  if (!token_.IsNumber() ||
      !absl::SimpleAtoi(absl::StrCat(negative ? "-" : "", token_.text),
                        &value)) {
    return Unexpected("an integer");
  }
  INGOT_RETURN_IF_ERROR(Advance());
  return value;
}

template <typename T, typename F>
absl::StatusOr<AttrValue> PartsParser::ParseListOf(const F& item) {
  std::vector<T> values;
  INGOT_RETURN_IF_ERROR(Expect("["));
  INGOT_RETURN_IF_ERROR(List("]", [&]() -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(T value, item());
    values.push_back(std::move(value));
    return absl::OkStatus();
  }));
  return AttrValue(std::move(values));
}

absl::StatusOr<AttrValue> PartsParser::ParseAttr(AttrKind kind) {
  auto string = [&] { return ExpectText(TokenKind::kString, "a string"); };
  switch (kind) {
    case AttrKind::kInt: {
      INGOT_ASSIGN_OR_RETURN(int64_t value, ParseInt());
      return AttrValue(value);
    }
    case AttrKind::kFloat: {
      INGOT_ASSIGN_OR_RETURN(double value, ParseFloat());
      return AttrValue(value);
    }
    case AttrKind::kString: {
      INGOT_ASSIGN_OR_RETURN(std::string value, string());
      return AttrValue(std::move(value));
    }
    case AttrKind::kInts:
      return ParseListOf<int64_t>([&] { return ParseInt(); });
    case AttrKind::kFloats:
      return ParseListOf<double>([&] { return ParseFloat(); });
    case AttrKind::kStrings:
      return ParseListOf<std::string>(string);
    case AttrKind::kDataType: {
      const Token at = token_;
      INGOT_ASSIGN_OR_RETURN(std::string word,
                             ExpectText(TokenKind::kWord, "a data type"));
      absl::StatusOr<DataType> type = DataType::Parse(word);
      if (!type.ok()) return ErrorAt(at, type.status().message());
      return AttrValue(*type);
    }
    case AttrKind::kShape: {
      INGOT_ASSIGN_OR_RETURN(Shape value, ParseShape());
      return AttrValue(std::move(value));
    }
  }
  return Error("an attribute of unknown kind");
}

// The kind that a value without a definition looks like. A sequence is one of
// integers unless its first item says otherwise.
AttrKind PartsParser::GuessKind() const {
  if (token_.kind == TokenKind::kString) return AttrKind::kString;
  if (token_.kind == TokenKind::kWord) {
    return DataType::Parse(token_.text).ok() ? AttrKind::kDataType
                                             : AttrKind::kFloat;
  }
  if (token_.IsSymbol("[")) {
    text::Lexer ahead = lexer_;
    Token item;
    if (!ahead.Next(&item).ok()) return AttrKind::kInts;
    if (item.kind == TokenKind::kString) return AttrKind::kStrings;
    if (item.kind == TokenKind::kWord || item.IsSymbol("(")) {
      return AttrKind::kShape;
    }
    if (item.IsSymbol("-") && !ahead.Next(&item).ok()) return AttrKind::kInts;
    return IsFloat(item) ? AttrKind::kFloats : AttrKind::kInts;
  }
  if (token_.IsSymbol("-")) {
    text::Lexer ahead = lexer_;
    Token number;
    if (ahead.Next(&number).ok() && !IsFloat(number)) return AttrKind::kInt;
    return AttrKind::kFloat;
  }
  return IsFloat(token_) ? AttrKind::kFloat : AttrKind::kInt;
}

// {name=value, …}, with the kinds that `op` (may be null) defines.
absl::StatusOr<Attrs> PartsParser::ParseAttrs(const OpDef* op) {
  Attrs attrs;
  INGOT_RETURN_IF_ERROR(Expect("{"));
  INGOT_RETURN_IF_ERROR(List("}", [&]() -> absl::Status {
    const Token at = token_;
    INGOT_ASSIGN_OR_RETURN(std::string name,
                           ExpectText(TokenKind::kWord, "an attribute's name"));
    if (attrs.Has(name)) {
      return ErrorAt(at, absl::StrCat("'", name, "' is there twice"));
    }
    INGOT_RETURN_IF_ERROR(Expect("="));
    AttrKind kind = GuessKind();
    if (op != nullptr) {
      for (const AttrSpec& spec : op->attrs) {
        if (spec.name == name) kind = spec.kind;
      }
    }
    INGOT_ASSIGN_OR_RETURN(AttrValue value, ParseAttr(kind));
    attrs.Set(name, std::move(value));
    return absl::OkStatus();
  }));
  return attrs;
}

}  // namespace ingot::relay
