#include "compiler/tir/printer.h"

#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "compiler/text/printer.h"
#include "compiler/tir/text.h"
#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

// The shortest text that reads back as the same T, always with a . or an e.
template <typename T>
std::string ShortestFloat(T value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  std::string text(buffer, result.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// Gives each thing in scope a name of its own.
class Names {
 public:
  std::string Add(const void* thing, absl::string_view wanted) {
    std::string base;
    for (char c : wanted) {
      base += absl::ascii_isalnum(c) || c == '_' || c == '.' ? c : '_';
    }
    if (base.empty() || absl::ascii_isdigit(base[0]) || base[0] == '.') {
      base.insert(0, "v");
    }
    if (!IsPlainName(base)) base += "_";
    std::string name = base;
    for (int i = 1; used_.count(name) != 0; ++i) {
      name = absl::StrCat(base, "_", i);
    }
    used_.insert(name);
    names_[thing] = name;
    return name;
  }

  const std::string* Find(const void* thing) const {
    auto it = names_.find(thing);
    return it == names_.end() ? nullptr : &it->second;
  }

  void Remove(const void* thing) {
    auto it = names_.find(thing);
    if (it == names_.end()) return;
    used_.erase(it->second);
    names_.erase(it);
  }

 private:
  std::map<const void*, std::string> names_;
  std::set<std::string> used_;
};

class Printer : public text::IndentingPrinter {
 public:
  void Function(const PrimFunc& func) {
    for (const Var* dim : SymbolicDims(func)) vars_.Add(dim, dim->name);
    Write("func @", FunctionName(func.name), "(");
    const size_t n = func.params.size();
    const size_t workspaces = static_cast<size_t>(func.num_workspaces);
    const size_t outputs = static_cast<size_t>(func.num_outputs);
    for (size_t i = 0; i < n; ++i) {
      if (i + outputs + workspaces == n) Write(") -> (");
      if (i + workspaces == n) Write(") workspace(");
      Parameter(func.params[i]);
      const bool last = i + 1 == n || i + 1 + workspaces == n ||
                        i + 1 + outputs + workspaces == n;
      if (!last) Write(", ");
    }
    if (outputs + workspaces == 0) Write(") -> (");
    Write(")");
    if (!func.attrs.empty()) {
      Write(" attrs(");
      List(func.attrs, [this](const auto& attr) {
        Write(text::QuoteString(attr.first), " = ",
              text::QuoteString(attr.second));
      });
      Write(")");
    }
    Write(" ");
    Block(func.body);
    EndLine();
  }

  // The statement in lines of its own, each indented.
  void Statement(const Stmt& s, bool last) {
    switch (s->kind) {
      case StmtKind::kSeq: {
        const auto& seq = static_cast<const Seq&>(*s);
        for (size_t i = 0; i < seq.stmts.size(); ++i) {
          Statement(seq.stmts[i], last && i + 1 == seq.stmts.size());
        }
        return;
      }
      case StmtKind::kLetStmt:
      case StmtKind::kAllocate:
      case StmtKind::kPart: {
        // Their scope is the rest of the block, so what has statements after
        // it needs a block of its own.
        if (last) return Scoped(s);
        BeginLine();
        Block(s);
        EndLine();
        return;
      }
      default:
        break;
    }
    BeginLine();
    Inner(s);
    EndLine();
  }

  void Head(const Stmt& s) {
    switch (s->kind) {
      case StmtKind::kFor:
        return ForHead(static_cast<const For&>(*s));
      case StmtKind::kLetStmt:
        return LetHead(static_cast<const LetStmt&>(*s));
      case StmtKind::kAllocate:
        return AllocateHead(static_cast<const Allocate&>(*s));
      case StmtKind::kPart:
        return PartHead(static_cast<const Part&>(*s));
      case StmtKind::kAssert: {
        const auto& node = static_cast<const Assert&>(*s);
        out += "assert ";
        Expression(node.condition, 0);
        return Write(", ", text::QuoteString(node.message));
      }
      case StmtKind::kPrefetch: {
        const auto& node = static_cast<const Prefetch&>(*s);
        out += "prefetch ";
        Access(node.buffer, node.indices);
        return Write(" bytes [", node.ahead, ", +", node.bytes, ")");
      }
      case StmtKind::kSeq:
        out += "{ … }";
        return;
      case StmtKind::kIfThenElse:
        out += "if ";
        return Expression(static_cast<const IfThenElse&>(*s).condition, 0);
      case StmtKind::kWhile:
        out += "while ";
        return Expression(static_cast<const While&>(*s).condition, 0);
      case StmtKind::kEvaluate:
        out += "eval ";
        return Expression(static_cast<const Evaluate&>(*s).value, 0);
      case StmtKind::kCallExtern: {
        const auto& node = static_cast<const CallExtern&>(*s);
        Write("extern @", node.symbol, "(");
        BufferNames(node.reads);
        out += ") -> (";
        BufferNames(node.writes);
        out += ")";
        if (!node.scalars.empty()) Arguments(" with ", node.scalars);
        return;
      }
      case StmtKind::kStore: {
        const auto& node = static_cast<const Store&>(*s);
        Access(node.buffer, node.indices);
        out += " = ";
        return Expression(node.value, 0);
      }
    }
  }

  void Expression(const Expr& e, int outer) {
    if (e == nullptr) {
      out += "<null>";
      return;
    }
    switch (e->kind) {
      case ExprKind::kIntImm:
        return Int(static_cast<const IntImm&>(*e));
      case ExprKind::kFloatImm:
        out += PrintFloat(e->dtype, static_cast<const FloatImm&>(*e).value);
        return;
      case ExprKind::kVar:
        out += VarName(static_cast<const Var&>(*e));
        return;
      case ExprKind::kUnary: {
        const auto& node = static_cast<const Unary&>(*e);
        OpenParen(kUnaryPrecedence, outer);
        out += SpellingOf(node.op);
        // -(-1) rather than --1, which reads back as a folded constant.
        Expression(node.a, kUnaryPrecedence + 1);
        CloseParen(kUnaryPrecedence, outer);
        return;
      }
      case ExprKind::kBinary: {
        const auto& node = static_cast<const Binary&>(*e);
        const BinarySpelling spelling = SpellingOf(node.op);
        if (spelling.precedence == 0) {
          return Arguments(spelling.text, {node.a, node.b});
        }
        OpenParen(spelling.precedence, outer);
        Expression(node.a, spelling.precedence);
        Write(" ", spelling.text, " ");
        Expression(node.b, spelling.precedence + 1);
        CloseParen(spelling.precedence, outer);
        return;
      }
      case ExprKind::kSelect: {
        const auto& node = static_cast<const Select&>(*e);
        return Arguments("select",
                         {node.condition, node.on_true, node.on_false});
      }
      case ExprKind::kCast:
        return Arguments(e->dtype.ToString(),
                         {static_cast<const Cast&>(*e).value});
      case ExprKind::kLoad: {
        const auto& node = static_cast<const Load&>(*e);
        return Access(node.buffer, node.indices);
      }
      case ExprKind::kRamp: {
        const auto& node = static_cast<const Ramp&>(*e);
        return Arguments("ramp", {node.base, node.stride}, e->dtype.lanes);
      }
      case ExprKind::kBroadcast:
        return Arguments("broadcast", {static_cast<const Broadcast&>(*e).value},
                         e->dtype.lanes);
      case ExprKind::kCall: {
        const auto& node = static_cast<const Call&>(*e);
        return Arguments(IntrinsicName(node.intrinsic), node.args);
      }
    }
  }

 private:
  static std::string FunctionName(const std::string& name) {
    if (IsPlainName(name)) return name;
    return text::QuoteString(name);
  }

  void OpenParen(int inner, int outer) {
    if (inner < outer) out += "(";
  }
  void CloseParen(int inner, int outer) {
    if (inner < outer) out += ")";
  }

  // A free variable gets its name where it is first met.
  std::string VarName(const Var& var) {
    const std::string* name = vars_.Find(&var);
    return name != nullptr ? *name : vars_.Add(&var, var.name);
  }

  void BufferName(const Buffer& buffer) {
    const std::string* name = buffers_.Find(buffer.get());
    absl::StrAppend(
        &out, "%",
        name != nullptr ? *name : buffers_.Add(buffer.get(), buffer->name));
  }

  void BufferNames(const std::vector<Buffer>& buffers) {
    List(buffers, [this](const Buffer& buffer) { BufferName(buffer); });
  }

  void Parameter(const Buffer& buffer) {
    BufferName(buffer);
    Write(": ", buffer->dtype.ToString());
    Bracketed(buffer->shape);
  }

  void Bracketed(const std::vector<Expr>& exprs) {
    out += "[";
    List(exprs, [this](const Expr& e) { Expression(e, 0); });
    out += "]";
  }

  void Access(const Buffer& buffer, const std::vector<Expr>& indices) {
    BufferName(buffer);
    Bracketed(indices);
  }

  void Arguments(absl::string_view name, const std::vector<Expr>& args,
                 int lanes = 0) {
    Write(name, "(");
    List(args, [this](const Expr& e) { Expression(e, 0); });
    if (lanes > 0) Write(", ", lanes);
    out += ")";
  }

  void Int(const IntImm& imm) {
    const DataType t = imm.dtype;
    if (t.is_bool()) {
      out += imm.value != 0 ? "true" : "false";
    } else if (t == DataType::Int(64)) {
      Write(imm.value);
    } else if (t.is_uint()) {
      Write(t.ToString(), "(", static_cast<uint64_t>(imm.value), ")");
    } else {
      Write(t.ToString(), "(", imm.value, ")");
    }
  }

  void ForHead(const For& node) {
    Write(SpellingOf(node.for_kind), " ", VarName(*node.var), " in [");
    Expression(node.min, 0);
    out += IsConstInt(node.min, 0) ? ", " : ", +";
    Expression(node.extent, 0);
    out += ")";
  }

  void LetHead(const LetStmt& node) {
    Write("let ", VarName(*node.var), ": ", node.var->dtype.ToString(), " = ");
    Expression(node.value, 0);
  }

  void AllocateHead(const Allocate& node) {
    out += "alloc ";
    Parameter(node.buffer);
    const absl::string_view scope = SpellingOf(node.buffer->scope);
    if (!scope.empty()) Write(" ", scope);
  }

  void PartHead(const Part& node) {
    out += "part ";
    Parameter(node.buffer);
    out += " of ";
    BufferName(node.whole);
    out += " at ";
    Expression(node.offset, 0);
  }

  void Block(const Stmt& body) {
    Open();
    Statement(body, true);
    Close();
  }

  void Scoped(const Stmt& s) {
    BeginLine();
    if (const auto* let = As<LetStmt>(s)) {
      // The value cannot see the variable.
      Write("let ");
      const size_t at = out.size();
      Write(": ", let->var->dtype.ToString(), " = ");
      Expression(let->value, 0);
      EndLine();
      out.insert(at, vars_.Add(let->var.get(), let->var->name));
      Statement(let->body, true);
      vars_.Remove(let->var.get());
      return;
    }
    if (const auto* part = As<Part>(s)) {
      PartHead(*part);
      EndLine();
      Statement(part->body, true);
      buffers_.Remove(part->buffer.get());
      return;
    }
    const auto& allocate = static_cast<const Allocate&>(*s);
    AllocateHead(allocate);
    EndLine();
    Statement(allocate.body, true);
    buffers_.Remove(allocate.buffer.get());
  }

  void Inner(const Stmt& s) {
    switch (s->kind) {
      case StmtKind::kFor: {
        const auto& node = static_cast<const For&>(*s);
        ForHead(node);
        out += " ";
        Block(node.body);
        vars_.Remove(node.var.get());
        return;
      }
      case StmtKind::kIfThenElse: {
        const auto& node = static_cast<const IfThenElse&>(*s);
        Head(s);
        out += " ";
        Block(node.then_body);
        if (node.else_body == nullptr) return;
        out += " else ";
        if (node.else_body->kind == StmtKind::kIfThenElse) {
          return Inner(node.else_body);
        }
        return Block(node.else_body);
      }
      case StmtKind::kWhile:
        Head(s);
        out += " ";
        return Block(static_cast<const While&>(*s).body);
      default:
        return Head(s);
    }
  }

  Names vars_, buffers_;
};

}  // namespace

std::string PrintFloat(DataType type, double value) {
  if (type == DataType::Float(32) && std::isfinite(value)) {
    return ShortestFloat(static_cast<float>(value)) + "f";
  }
  std::string text;
  if (std::isnan(value)) {
    text = "nan";
  } else if (std::isinf(value)) {
    text = value < 0 ? "-inf" : "inf";
  } else {
    text = ShortestFloat(value);
  }
  if (type == DataType::Float(64)) return text;
  return absl::StrCat(type.ToString(), "(", text, ")");
}

std::string Print(const PrimFunc& func) {
  Printer printer;
  printer.Function(func);
  return std::move(printer.out);
}

std::string Print(const Stmt& s) {
  Printer printer;
  printer.Statement(s, true);
  return std::move(printer.out);
}

std::string Print(const Expr& e) {
  Printer printer;
  printer.Expression(e, 0);
  return std::move(printer.out);
}

std::string PrintHead(const Stmt& s) {
  Printer printer;
  printer.Head(s);
  return std::move(printer.out);
}

}  // namespace ingot::tir
