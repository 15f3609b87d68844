#include "compiler/tir/parser.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/tir/expr_parser.h"
#include "compiler/tir/text.h"
#include "compiler/tir/typing.h"

namespace ingot::tir {

using text::ErrorAt;
using text::Token;
using text::TokenKind;

namespace {

class Parser final : private ExprParser {
 public:
  explicit Parser(absl::string_view text) : ExprParser(text) {}

  absl::Status Function(PrimFunc* func) {
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_RETURN_IF_ERROR(ExpectWord("func"));
    INGOT_ASSIGN_OR_RETURN(
        func->name, ExpectText(TokenKind::kAtName, "the function's @name"));
    dims_allowed_ = true;
    int count = 0;
    INGOT_RETURN_IF_ERROR(Parameters(Scope::kParam, func, &count));
    INGOT_RETURN_IF_ERROR(Expect("->"));
    INGOT_RETURN_IF_ERROR(Parameters(Scope::kParam, func, &func->num_outputs));
    if (token_.IsWord("workspace")) {
      INGOT_RETURN_IF_ERROR(Advance());
      INGOT_RETURN_IF_ERROR(
          Parameters(Scope::kWorkspace, func, &func->num_workspaces));
    }
    dims_allowed_ = false;
    if (token_.IsWord("attrs")) INGOT_RETURN_IF_ERROR(Attributes(func));
    int depth;
    INGOT_RETURN_IF_ERROR(Block(&func->body, &depth));
    if (token_.kind != TokenKind::kEnd) {
      return Unexpected("nothing after the function");
    }
    return absl::OkStatus();
  }

 private:
  absl::Status NewName(std::string* name) {
    if (token_.kind != TokenKind::kWord || !IsPlainName(token_.text)) {
      return Unexpected("a name");
    }
    if (vars_.count(token_.text) != 0) {
      return ErrorAt(
          token_, absl::StrCat("'", token_.text, "' is already defined here"));
    }
    *name = token_.text;
    return Advance();
  }

  // A name of a buffer that is not in scope yet, its type and shape.
  absl::Status NewBuffer(Scope scope, Buffer* buffer) {
    const Token at = token_;
    if (token_.kind != TokenKind::kPercentName) return Unexpected("a %buffer");
    if (buffers_.count(token_.text) != 0) {
      return ErrorAt(at,
                     absl::StrCat("%", at.text, " is already defined here"));
    }
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_RETURN_IF_ERROR(Expect(":"));
    DataType type;
    INGOT_RETURN_IF_ERROR(Type(&type));
    std::vector<Expr> shape;
    int depth = 0;
    INGOT_RETURN_IF_ERROR(Bracketed(&shape, &depth));
    BufferNode node{at.text, type, shape, scope};
    if (const char* error = BufferTypeError(node)) return ErrorAt(at, error);
    *buffer = MakeBuffer(at.text, type, std::move(shape), scope);
    return absl::OkStatus();
  }

  absl::Status Parameters(Scope scope, PrimFunc* func, int* count) {
    *count = 0;
    INGOT_RETURN_IF_ERROR(Expect("("));
    while (!token_.IsSymbol(")")) {
      if (*count > 0) INGOT_RETURN_IF_ERROR(Expect(","));
      Buffer buffer;
      INGOT_RETURN_IF_ERROR(NewBuffer(scope, &buffer));
      buffers_[buffer->name] = buffer;
      func->params.push_back(std::move(buffer));
      ++*count;
    }
    return Advance();
  }

  absl::Status Attributes(PrimFunc* func) {
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_RETURN_IF_ERROR(Expect("("));
    while (!token_.IsSymbol(")")) {
      if (!func->attrs.empty()) INGOT_RETURN_IF_ERROR(Expect(","));
      if (token_.kind != TokenKind::kString) return Unexpected("a string");
      const Token key = token_;
      INGOT_RETURN_IF_ERROR(Advance());
      INGOT_RETURN_IF_ERROR(Expect("="));
      if (token_.kind != TokenKind::kString) return Unexpected("a string");
      if (!func->attrs.emplace(key.text, token_.text).second) {
        return ErrorAt(key, "the attribute is given twice");
      }
      INGOT_RETURN_IF_ERROR(Advance());
    }
    return Advance();
  }

  // -------------------------------------------------------------- statements

  // One let, alloc or part of a block, waiting for the statements it reaches
  // over.
  struct Opened {
    size_t first;  // of the statements after it
    VarPtr var;
    Expr value;  // of a let; of a part, its offset
    Buffer buffer;
    Buffer whole;  // of a part
  };

  absl::Status Block(Stmt* result, int* depth) {
    INGOT_RETURN_IF_ERROR(Enter());
    INGOT_RETURN_IF_ERROR(Expect("{"));
    std::vector<Stmt> stmts;
    std::vector<Opened> opened;
    int inner = 0;
    while (!token_.IsSymbol("}")) {
      if (token_.IsWord("let") || token_.IsWord("alloc") ||
          token_.IsWord("part")) {
        Opened open;
        open.first = stmts.size();
        INGOT_RETURN_IF_ERROR(token_.text == "let"     ? Let(&open)
                              : token_.text == "alloc" ? Alloc(&open)
                                                       : PartOf(&open));
        opened.push_back(std::move(open));
        if (opened.size() > static_cast<size_t>(kMaxTextDepth)) {
          return Error("nested too deeply");
        }
        continue;
      }
      int statement_depth = 0;
      Stmt stmt;
      INGOT_RETURN_IF_ERROR(Statement(&stmt, &statement_depth));
      inner = std::max(inner, statement_depth);
      stmts.push_back(std::move(stmt));
    }
    *depth = inner + 1 + static_cast<int>(opened.size());
    if (*depth > kMaxTextDepth) return Error("nested too deeply");
    INGOT_RETURN_IF_ERROR(Advance());
    for (; !opened.empty(); opened.pop_back()) {
      Opened& open = opened.back();
      const auto first = stmts.begin() + static_cast<ptrdiff_t>(open.first);
      Stmt body =
          MakeSeq(std::vector<Stmt>(std::make_move_iterator(first),
                                    std::make_move_iterator(stmts.end())));
      stmts.erase(first, stmts.end());
      if (open.var != nullptr) {
        vars_.erase(open.var->name);
        stmts.push_back(MakeLet(open.var, open.value, std::move(body)));
      } else {
        buffers_.erase(open.buffer->name);
        stmts.push_back(
            open.whole != nullptr
                ? MakePart(open.buffer, open.whole, open.value, std::move(body))
                : MakeAllocate(open.buffer, std::move(body)));
      }
    }
    *result = MakeSeq(std::move(stmts));
    Leave();
    return absl::OkStatus();
  }

  absl::Status Let(Opened* open) {
    INGOT_RETURN_IF_ERROR(Advance());
    std::string name;
    INGOT_RETURN_IF_ERROR(NewName(&name));
    INGOT_RETURN_IF_ERROR(Expect(":"));
    DataType type;
    INGOT_RETURN_IF_ERROR(Type(&type));
    const Token at = token_;
    INGOT_RETURN_IF_ERROR(Expect("="));
    Tree value;
    INGOT_RETURN_IF_ERROR(Expression(&value));
    if (value.e->dtype != type) {
      return ErrorAt(
          at, absl::StrCat("the value is ", value.e->dtype.ToString(), ", not ",
                           type.ToString()));
    }
    open->var = MakeVar(name, type);
    open->value = std::move(value.e);
    vars_[name] = open->var;
    return absl::OkStatus();
  }

  absl::Status Alloc(Opened* open) {
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_RETURN_IF_ERROR(NewBuffer(Scope::kWorkspace, &open->buffer));
    for (Scope scope : {Scope::kStack, Scope::kShared, Scope::kRegisters}) {
      if (!token_.IsWord(SpellingOf(scope))) continue;
      INGOT_RETURN_IF_ERROR(Advance());
      open->buffer = MakeBuffer(open->buffer->name, open->buffer->dtype,
                                open->buffer->shape, scope);
      break;
    }
    buffers_[open->buffer->name] = open->buffer;
    return absl::OkStatus();
  }

  // part %buffer: type[shape] of %whole at offset
  absl::Status PartOf(Opened* open) {
    INGOT_RETURN_IF_ERROR(Advance());
    const Token at = token_;
    INGOT_RETURN_IF_ERROR(NewBuffer(Scope::kPart, &open->buffer));
    INGOT_RETURN_IF_ERROR(ExpectWord("of"));
    auto whole = buffers_.find(token_.text);
    if (token_.kind != TokenKind::kPercentName || whole == buffers_.end()) {
      return Unexpected("a %buffer in scope");
    }
    open->whole = whole->second;
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_RETURN_IF_ERROR(ExpectWord("at"));
    Tree offset;
    INGOT_RETURN_IF_ERROR(Expression(&offset));
    open->value = std::move(offset.e);
    if (const char* error =
            PartTypeError(open->buffer, open->whole, open->value)) {
      return ErrorAt(at, error);
    }
    buffers_[open->buffer->name] = open->buffer;
    return absl::OkStatus();
  }

  // assert condition, "message"
  absl::Status AssertStatement(Stmt* result) {
    Expr condition;
    INGOT_RETURN_IF_ERROR(Condition(&condition));
    INGOT_RETURN_IF_ERROR(Expect(","));
    if (token_.kind != TokenKind::kString) return Unexpected("a string");
    *result = MakeAssert(std::move(condition), token_.text);
    return Advance();
  }

  absl::Status Bytes(int64_t* bytes) {
    if (token_.kind != TokenKind::kInt ||
        !absl::SimpleAtoi(token_.text, bytes)) {
      return Unexpected("a number of bytes");
    }
    return Advance();
  }

  // prefetch %buffer[index, …] bytes [ahead, +count)
  absl::Status PrefetchStatement(Stmt* result) {
    const Token at = token_;
    INGOT_RETURN_IF_ERROR(Advance());
    Buffer buffer;
    std::vector<Expr> indices;
    int depth = 0;
    int64_t ahead, bytes;
    INGOT_RETURN_IF_ERROR(Access(&buffer, &indices, &depth));
    INGOT_RETURN_IF_ERROR(ExpectWord("bytes"));
    INGOT_RETURN_IF_ERROR(Expect("["));
    INGOT_RETURN_IF_ERROR(Bytes(&ahead));
    INGOT_RETURN_IF_ERROR(Expect(","));
    INGOT_RETURN_IF_ERROR(Expect("+"));
    INGOT_RETURN_IF_ERROR(Bytes(&bytes));
    INGOT_RETURN_IF_ERROR(Expect(")"));
    if (const char* error = PrefetchTypeError(buffer, indices, ahead, bytes)) {
      return ErrorAt(at, error);
    }
    *result = MakePrefetch(std::move(buffer), std::move(indices), ahead, bytes);
    return absl::OkStatus();
  }

  absl::Status Statement(Stmt* result, int* depth) {
    *depth = 1;
    if (token_.IsSymbol("{")) return Block(result, depth);
    if (token_.kind == TokenKind::kPercentName) return StoreStatement(result);
    static constexpr ForKind kKinds[] = {
        ForKind::kSerial,   ForKind::kParallel,   ForKind::kVectorized,
        ForKind::kUnrolled, ForKind::kTensorized, ForKind::kBlock,
        ForKind::kThread};
    for (ForKind kind : kKinds) {
      if (token_.IsWord(SpellingOf(kind))) return Loop(kind, result, depth);
    }
    if (token_.IsWord("if")) return If(result, depth);
    if (token_.IsWord("while")) {
      Expr condition;
      Stmt body;
      INGOT_RETURN_IF_ERROR(Condition(&condition));
      INGOT_RETURN_IF_ERROR(Block(&body, depth));
      *result = MakeWhile(std::move(condition), std::move(body));
      return absl::OkStatus();
    }
    if (token_.IsWord("eval")) {
      INGOT_RETURN_IF_ERROR(Advance());
      Tree value;
      INGOT_RETURN_IF_ERROR(Expression(&value));
      *result = MakeEvaluate(std::move(value.e));
      return absl::OkStatus();
    }
    if (token_.IsWord("extern")) return Extern(result);
    if (token_.IsWord("assert")) return AssertStatement(result);
    if (token_.IsWord("prefetch")) return PrefetchStatement(result);
    return Unexpected("a statement");
  }

  // Parses the condition after its keyword: an expression that is a scalar
  // bool.
  absl::Status Condition(Expr* condition) {
    const Token at = token_;
    INGOT_RETURN_IF_ERROR(Advance());
    Tree tree;
    INGOT_RETURN_IF_ERROR(Expression(&tree));
    if (tree.e->dtype != DataType::Bool()) {
      return ErrorAt(at, "the condition must be a scalar bool");
    }
    *condition = std::move(tree.e);
    return absl::OkStatus();
  }

  absl::Status If(Stmt* result, int* depth) {
    INGOT_RETURN_IF_ERROR(Enter());
    Expr condition;
    Stmt then_body, else_body;
    int else_depth = 0;
    INGOT_RETURN_IF_ERROR(Condition(&condition));
    INGOT_RETURN_IF_ERROR(Block(&then_body, depth));
    if (token_.IsWord("else")) {
      INGOT_RETURN_IF_ERROR(Advance());
      INGOT_RETURN_IF_ERROR(token_.IsWord("if")
                                ? If(&else_body, &else_depth)
                                : Block(&else_body, &else_depth));
    }
    *depth = std::max(*depth, else_depth) + 1;
    *result = MakeIf(std::move(condition), std::move(then_body),
                     std::move(else_body));
    Leave();
    return absl::OkStatus();
  }

  absl::Status Index(const Token& at, Tree* tree) {
    INGOT_RETURN_IF_ERROR(Expression(tree));
    if (tree->e->dtype != DataType::Int(64)) {
      return ErrorAt(at, absl::StrCat("a loop's bounds must be i64, not ",
                                      tree->e->dtype.ToString()));
    }
    return absl::OkStatus();
  }

  absl::Status Loop(ForKind kind, Stmt* result, int* depth) {
    INGOT_RETURN_IF_ERROR(Advance());
    std::string name;
    INGOT_RETURN_IF_ERROR(NewName(&name));
    INGOT_RETURN_IF_ERROR(ExpectWord("in"));
    const Token at = token_;
    INGOT_RETURN_IF_ERROR(Expect("["));
    Tree min, end;
    INGOT_RETURN_IF_ERROR(Index(at, &min));
    INGOT_RETURN_IF_ERROR(Expect(","));
    const bool relative = token_.IsSymbol("+");
    if (relative) INGOT_RETURN_IF_ERROR(Advance());
    INGOT_RETURN_IF_ERROR(Index(at, &end));
    INGOT_RETURN_IF_ERROR(Expect(")"));
    Expr extent = relative ? end.e : end.e - min.e;
    VarPtr var = MakeVar(name);
    vars_[name] = var;
    Stmt body;
    INGOT_RETURN_IF_ERROR(Block(&body, depth));
    vars_.erase(name);
    *result = MakeFor(std::move(var), std::move(min.e), std::move(extent), kind,
                      std::move(body));
    return absl::OkStatus();
  }

  // In brackets: names of buffers in scope.
  absl::Status BufferNames(std::vector<Buffer>* buffers) {
    INGOT_RETURN_IF_ERROR(Expect("("));
    while (!token_.IsSymbol(")")) {
      if (!buffers->empty()) INGOT_RETURN_IF_ERROR(Expect(","));
      auto it = buffers_.find(token_.text);
      if (token_.kind != TokenKind::kPercentName || it == buffers_.end()) {
        return Unexpected("a %buffer in scope");
      }
      buffers->push_back(it->second);
      INGOT_RETURN_IF_ERROR(Advance());
    }
    return Advance();
  }

  // extern @symbol(%read, …) -> (%write, …) with (scalar, …)
  absl::Status Extern(Stmt* result) {
    const Token at = token_;
    INGOT_RETURN_IF_ERROR(Advance());
    // The name of a symbol, which no quotes may make into something else.
    const bool plain = std::all_of(
        token_.text.begin(), token_.text.end(),
        [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; });
    if (!plain) return Unexpected("a function's name without quotes");
    INGOT_ASSIGN_OR_RETURN(
        const std::string symbol,
        ExpectText(TokenKind::kAtName, "a function's @name"));
    std::vector<Buffer> reads, writes;
    std::vector<Expr> scalars;
    INGOT_RETURN_IF_ERROR(BufferNames(&reads));
    INGOT_RETURN_IF_ERROR(Expect("->"));
    INGOT_RETURN_IF_ERROR(BufferNames(&writes));
    if (token_.IsWord("with")) {
      INGOT_RETURN_IF_ERROR(Advance());
      INGOT_RETURN_IF_ERROR(Expect("("));
      while (scalars.empty() || !token_.IsSymbol(")")) {
        if (!scalars.empty()) INGOT_RETURN_IF_ERROR(Expect(","));
        Tree scalar;
        INGOT_RETURN_IF_ERROR(Expression(&scalar));
        scalars.push_back(std::move(scalar.e));
      }
      INGOT_RETURN_IF_ERROR(Advance());
    }
    if (const char* error =
            CallExternTypeError(symbol, reads, writes, scalars)) {
      return ErrorAt(at, error);
    }
    *result = MakeCallExtern(symbol, std::move(reads), std::move(writes),
                             std::move(scalars));
    return absl::OkStatus();
  }

  absl::Status StoreStatement(Stmt* result) {
    const Token at = token_;
    Buffer buffer;
    std::vector<Expr> indices;
    int depth = 0;
    INGOT_RETURN_IF_ERROR(Access(&buffer, &indices, &depth));
    INGOT_RETURN_IF_ERROR(Expect("="));
    Tree value;
    INGOT_RETURN_IF_ERROR(Expression(&value));
    if (const char* error = StoreTypeError(buffer, indices, value.e->dtype)) {
      return ErrorAt(at, error);
    }
    *result =
        MakeStore(std::move(buffer), std::move(indices), std::move(value.e));
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<PrimFunc> Parse(absl::string_view text) {
  PrimFunc func;
  INGOT_RETURN_IF_ERROR(Parser(text).Function(&func));
  return func;
}

}  // namespace ingot::tir
