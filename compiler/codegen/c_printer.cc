#include "compiler/codegen/c_printer.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/alignment.h"
#include "compiler/codegen/access.h"
#include "compiler/codegen/c_vector_helpers.h"
#include "compiler/codegen/lane_slices.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::Affine;
using tir::As;
using tir::Expr;
using tir::ExprKind;
using tir::StmtKind;

bool IsNarrowFloat(DataType t) { return t.is_float() && t.bits == 16; }

// The nodes of an expression that several others use and that are worth a name,
// operands before users. Without names the text of nested ones grows
// exponentially.
class SharedFinder : public tir::ExprVisitor {
 public:
  explicit SharedFinder(const Expr& root) {
    Visit(root);
    for (const Expr& e : order_) {
      if (uses_[e.get()] > 1 && e != root) shared.push_back(e);
    }
  }
  std::vector<Expr> shared;

  void Visit(const Expr& e) override {
    if (++uses_[e.get()] > 1) return;
    ExprVisitor::Visit(e);
    switch (e->kind) {
      case ExprKind::kCall:
      case ExprKind::kBinary:
      case ExprKind::kSelect:
      case ExprKind::kCast:
        order_.push_back(e);
        break;
      default:
        break;
    }
  }

 private:
  std::map<const tir::ExprNode*, int> uses_;
  std::vector<Expr> order_;
};

// Whether the headers of C may have a type or a macro of this name, or our own
// text a function or a macro.
bool MayBeOfHeaders(absl::string_view name) {
  for (absl::string_view end : {"_t", "_MAX", "_MIN"}) {
    if (absl::EndsWith(name, end)) return true;
  }
  for (absl::string_view start :
       {"CHAR_BIT", "CLK_", "CL_", "DBL_", "EXIT_", "FLT_", "FP_", "HALF_",
        "HUGE_VAL", "INGOT_", "MATH_", "M_", "__", "cl_", "ingot_",
        "math_errhandling"}) {
    if (absl::StartsWith(name, start)) return true;
  }
  // C keeps such names for itself, and has words of that form.
  return name.size() > 1 && name[0] == '_' &&
         absl::ascii_isupper(static_cast<unsigned char>(name[1]));
}

}  // namespace

std::string CPrinter::ValueType(DataType t) {
  if (t.is_bool()) return "int";
  if (t.is_float()) return t.bits == 64 ? "double" : "float";
  return absl::StrCat(t.is_uint() ? "uint" : "int", t.bits, "_t");
}

std::string CPrinter::MemoryType(DataType t) {
  if (t.is_bool()) return "uint8_t";
  if (IsNarrowFloat(t)) return "uint16_t";
  return ValueType(t);
}

void CPrinter::Fail(absl::string_view what) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(what);
}

std::string CPrinter::Helper(const std::string& name) {
  helpers_.insert(name);
  return name;
}

void CPrinter::ResetNames(const std::set<std::string>& reserved) {
  var_names_.clear();
  buffer_names_.clear();
  read_only_.clear();
  vector_vars_.clear();
  registers_.clear();
  taken_ = reserved;
}

std::string CPrinter::Declare(absl::string_view name) {
  std::string stem;
  for (char c : name) {
    stem += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  if (stem.empty() ||
      absl::ascii_isdigit(static_cast<unsigned char>(stem[0]))) {
    stem = "v" + stem;
  }
  if (MayBeOfHeaders(stem) || (uses_vectors_ && IsVectorHelper(stem))) {
    stem += "_v";
  }
  std::string unique = stem;
  for (int i = 1; !taken_.insert(unique).second; ++i) {
    unique = absl::StrCat(stem, "_", i);
  }
  return unique;
}

std::string CPrinter::DeclareVar(const tir::Var* var) {
  return var_names_[var] = Declare(var->name);
}

std::string CPrinter::DeclareBuffer(const tir::BufferNode* buffer) {
  return buffer_names_[buffer] = Declare(buffer->name);
}

const std::string& CPrinter::NameOf(const tir::Var* var) {
  auto it = var_names_.find(var);
  if (it != var_names_.end()) return it->second;
  Fail(absl::StrCat("variable ", var->name, " is not bound"));
  return var->name;
}

const std::string& CPrinter::NameOf(const tir::BufferNode* buffer) {
  auto it = buffer_names_.find(buffer);
  if (it != buffer_names_.end()) return it->second;
  Fail(absl::StrCat("buffer ", buffer->name, " is not in scope"));
  return buffer->name;
}

void CPrinter::Line(absl::string_view text) {
  if (!text.empty()) text_.append(2 * indent_, ' ');
  absl::StrAppend(&text_, text, "\n");
}

void CPrinter::ForLanes(int lanes, const std::function<void()>& body) {
  if (lanes == 1) return body();
  lane_ = Declare("lane");
  Line(absl::StrCat("for (int ", lane_, " = 0; ", lane_, " < ", lanes, "; ++",
                    lane_, ") {"));
  Indent();
  body();
  Outdent();
  Line("}");
  taken_.erase(lane_);
  lane_.clear();
}

void CPrinter::Print(const tir::Stmt& s) {
  if (s == nullptr || !status_.ok()) return;
  switch (s->kind) {
    case StmtKind::kFor:
      return PrintFor(*As<tir::For>(s));
    case StmtKind::kStore:
      return PrintStores({As<tir::Store>(s)});
    case StmtKind::kAllocate:
      return PrintAllocate(*As<tir::Allocate>(s));
    case StmtKind::kIfThenElse:
      return PrintIf(*As<tir::IfThenElse>(s));
    case StmtKind::kSeq:
      return PrintSeq(*As<tir::Seq>(s));
    case StmtKind::kLetStmt:
      return PrintLet(*As<tir::LetStmt>(s));
    case StmtKind::kWhile: {
      const auto& loop = *As<tir::While>(s);
      Line(absl::StrCat("while (", Print(loop.condition), ") {"));
      Indent();
      Print(loop.body);
      Outdent();
      return Line("}");
    }
    case StmtKind::kEvaluate:
      return;
    case StmtKind::kCallExtern:
      return PrintCallExtern(*As<tir::CallExtern>(s));
    case StmtKind::kPart:
      return PrintPart(*As<tir::Part>(s));
    case StmtKind::kPrefetch:
      return PrintPrefetch(*As<tir::Prefetch>(s));
    case StmtKind::kAssert:
      return PrintAssert(*As<tir::Assert>(s));
  }
}

void CPrinter::PrintSeq(const tir::Seq& seq) {
  std::vector<const tir::Store*> stores;
  for (const tir::Stmt& stmt : seq.stmts) {
    if (const auto* store = As<tir::Store>(stmt)) {
      stores.push_back(store);
      continue;
    }
    PrintStores(stores);
    stores.clear();
    Print(stmt);
  }
  PrintStores(stores);
}

void CPrinter::PrintParallel(const tir::For& loop) {
  PrintLoop(loop, "0", Print(loop.extent, kAdditive));
}

void CPrinter::PrintThreads(const tir::For& loop) {
  PrintLoop(loop, "0", Print(loop.extent, kAdditive));
}

void CPrinter::PrintFor(const tir::For& loop) {
  int64_t extent = 0;
  if (tir::AsConstInt(loop.extent, &extent) && extent <= 0) return;
  if (loop.for_kind == tir::ForKind::kParallel ||
      loop.for_kind == tir::ForKind::kBlock) {
    return PrintParallel(loop);
  }
  if (loop.for_kind == tir::ForKind::kThread) return PrintThreads(loop);
  PrintLoop(loop, "0", Print(loop.extent, kAdditive));
}

void CPrinter::PrintLoop(const tir::For& loop, const std::string& begin,
                         const std::string& end) {
  const bool from_zero = tir::IsConstInt(loop.min, 0);
  const std::string min = from_zero ? "" : Print(loop.min, kAdditive);
  const std::string first = from_zero      ? begin
                            : begin == "0" ? min
                                           : absl::StrCat(min, " + ", begin);
  std::string last = from_zero ? end : absl::StrCat(min, " + ", end);
  int64_t min_value = 0, extent = 0;
  if (begin == "0" && tir::AsConstInt(loop.min, &min_value) &&
      tir::AsConstInt(loop.extent, &extent)) {
    last = absl::StrCat(min_value + extent);
  }
  const std::string var = DeclareVar(loop.var.get());
  Line(absl::StrCat("for (int64_t ", var, " = ", first, "; ", var, " < ", last,
                    "; ++", var, ") {"));
  bounds_.SetLoop(loop.var.get(), loop.min, loop.extent);
  Indent();
  Print(loop.body);
  Outdent();
  bounds_.Forget(loop.var.get());
  Line("}");
  taken_.erase(var);
}

void CPrinter::PrintIteration(const tir::For& loop, const std::string& index) {
  const std::string first =
      tir::IsConstInt(loop.min, 0)
          ? index
          : absl::StrCat(Print(loop.min, kAdditive), " + ", index);
  const std::string var = DeclareVar(loop.var.get());
  Line(absl::StrCat("const int64_t ", var, " = ", first, ";"));
  bounds_.SetLoop(loop.var.get(), loop.min, loop.extent);
  Print(loop.body);
  bounds_.Forget(loop.var.get());
}

void CPrinter::NameShared(const Expr& e) {
  SharedFinder finder(e);
  for (const Expr& node : finder.shared) {
    if (node->dtype.is_integer() && node->dtype.bits == 64) continue;
    if (MayFault(node, bounds_)) continue;  // it must stay behind its guard
    const DataType t = node->dtype;
    const bool is_vector = t.lanes > 1 && lane_.empty();
    if (is_vector && t.is_bool()) continue;
    const std::string value =
        is_vector ? PrintVector(node, kAnything) : Print(node);
    const std::string name = Declare("t");
    Line(absl::StrCat("const ", is_vector ? VectorType(t) : ValueType(t), " ",
                      name, " = ", value, ";"));
    shared_[node.get()] = name;
  }
}

void CPrinter::PrintStore(const tir::Store& s) {
  const DataType t = s.buffer->dtype;
  const int lanes = s.value->dtype.lanes;
  if (PrintVectorStore(s)) return;
  const auto encoded = [&](std::string value) {
    if (!IsNarrowFloat(t)) return value;
    return absl::StrCat(
        Helper(absl::StrCat("ingot_f32_to_", t.element().ToString())), "(",
        value, ")");
  };
  if (lanes > 1 && ReadsElsewhere(s)) {
    const std::string copy = Declare("lanes");
    Line(absl::StrCat(ValueType(t), " ", copy, "[", lanes, "];"));
    ForLanes(lanes, [&] {
      Line(absl::StrCat(copy, "[", lane_, "] = ", Print(s.value), ";"));
    });
    ForLanes(lanes, [&] {
      Line(absl::StrCat(Subscript(*s.buffer, s.indices), " = ",
                        encoded(absl::StrCat(copy, "[", lane_, "]")), ";"));
    });
    return;
  }
  ForLanes(lanes, [&] {
    NameShared(s.value);
    const std::string value = encoded(Print(s.value));
    Line(absl::StrCat(Subscript(*s.buffer, s.indices), " = ", value, ";"));
    shared_.clear();
  });
}

void CPrinter::PrintLet(const tir::LetStmt& s) {
  const DataType t = s.value->dtype;
  if (t.lanes == 1) {
    NameShared(s.value);
    const std::string value = Print(s.value);
    shared_.clear();
    const std::string name = DeclareVar(s.var.get());
    Line(absl::StrCat("const ", ValueType(t), " ", name, " = ", value, ";"));
    if (t == DataType::Int(64)) bounds_.SetValue(s.var.get(), s.value);
  } else if (!PrintVectorLet(s)) {
    const std::string name = DeclareVar(s.var.get());
    Line(absl::StrCat(ValueType(t), " ", name, "[", t.lanes, "];"));
    ForLanes(t.lanes, [&] {
      Line(absl::StrCat(name, "[", lane_, "] = ", Print(s.value), ";"));
    });
  }
  Print(s.body);
  bounds_.Forget(s.var.get());
}

void CPrinter::PrintIf(const tir::IfThenElse& s) {
  Line(absl::StrCat("if (", Print(s.condition), ") {"));
  Indent();
  Print(s.then_body);
  Outdent();
  if (s.else_body != nullptr) {
    Line("} else {");
    Indent();
    Print(s.else_body);
    Outdent();
  }
  Line("}");
}

void CPrinter::PrintCallExtern(const tir::CallExtern& s) {
  std::vector<std::string> types, args;
  for (const tir::Buffer& buffer : s.reads) {
    types.push_back(absl::StrCat("const ", MemoryType(buffer->dtype), "*"));
    args.push_back(NameOf(buffer.get()));
  }
  for (const tir::Buffer& buffer : s.writes) {
    types.push_back(absl::StrCat(MemoryType(buffer->dtype), "*"));
    args.push_back(NameOf(buffer.get()));
  }
  for (const Expr& scalar : s.scalars) {
    types.push_back(ValueType(scalar->dtype));
    args.push_back(Print(scalar));
  }
  const std::string prototype =
      absl::StrCat("int ", s.symbol, "(",
                   types.empty() ? "void" : absl::StrJoin(types, ", "), ");");
  const auto [it, added] = prototypes_.emplace(s.symbol, prototype);
  if (!added && it->second != prototype) {
    return Fail(absl::StrCat("calls both ", it->second, " and ", prototype));
  }
  Line(absl::StrCat("if (", s.symbol, "(", absl::StrJoin(args, ", "),
                    ") != 0) {"));
  Indent();
  Line(absl::StrCat("return fail(\"RuntimeError\", \"", s.symbol,
                    " failed\");"));
  Outdent();
  Line("}");
}

// A block with the parts that begin here, whose names end with it.
void CPrinter::PrintPart(const tir::Part& s) {
  Line("{");
  Indent();
  std::vector<const tir::Part*> parts;
  tir::Stmt body;
  for (const tir::Part* part = &s; part != nullptr;
       part = As<tir::Part>(body)) {
    parts.push_back(part);
    const bool read_only = IsReadOnly(part->whole.get());
    if (read_only) MarkReadOnly(part->buffer.get());
    const absl::string_view qualifier = read_only ? "const " : "";
    const std::string whole = NameOf(part->whole.get());
    const std::string type = MemoryType(part->buffer->dtype);
    const std::string name = DeclareBuffer(part->buffer.get());
    const bool is_bytes = part->whole->dtype.bytes() == 1;
    const std::string at =
        tir::IsConstInt(part->offset, 0)
            ? whole
            : absl::StrCat(
                  "(", is_bytes ? "" : absl::StrCat("(", qualifier, "char*)"),
                  whole, " + ", Print(part->offset, kMultiplicative), ")");
    Line(absl::StrCat(qualifier, type, "* const ", name, " = (", qualifier,
                      type, "*)", at, ";"));
    body = part->body;
  }
  Print(body);
  Outdent();
  Line("}");
  for (const tir::Part* part : parts) {
    taken_.erase(NameOf(part->buffer.get()));
  }
}

std::string CPrinter::Quoted(absl::string_view text) {
  // C99 reads "??/" as a backslash before it looks for the string's end.
  return absl::StrCat(
      "\"", absl::StrReplaceAll(absl::CEscape(text), {{"?", "\\?"}}), "\"");
}

void CPrinter::PrintAssert(const tir::Assert& s) {
  Line(absl::StrCat("if (!(", Print(s.condition), ")) {"));
  Indent();
  Line(absl::StrCat("return fail(\"ValueError\", ", Quoted(s.message), ");"));
  Outdent();
  Line("}");
}

void CPrinter::PrintPrefetch(const tir::Prefetch& s) {
  const std::string element = Subscript(*s.buffer, s.indices);
  for (int64_t i = 0; i < s.bytes; i += kCacheLineBytes) {
    Line(absl::StrCat(Helper("ingot_prefetch_bytes"), "(&", element, ", ",
                      s.ahead + i, ");"));
  }
}

std::string CPrinter::Prototypes(const std::set<std::string>& defined) const {
  std::string text;
  for (const auto& [symbol, prototype] : prototypes_) {
    if (defined.count(symbol) == 0) absl::StrAppend(&text, prototype, "\n");
  }
  return text;
}

void CPrinter::PrintAllocate(const tir::Allocate& s) {
  int64_t elements = 1;
  bool fits = tir::IsArray(s.buffer->scope);
  for (const Expr& dim : s.buffer->shape) {
    int64_t n = 0;
    fits = fits && tir::AsConstInt(dim, &n) && n >= 0 &&
           !__builtin_mul_overflow(elements, n, &elements) &&
           elements <= (int64_t{1} << 20);
  }
  if (!fits) {
    return Fail(absl::StrCat("buffer ", s.buffer->name,
                             " is allocated here, but is no stack buffer of a "
                             "small constant size"));
  }
  const std::string name = DeclareBuffer(s.buffer.get());
  const int lanes = RegistersOf(s, elements);
  if (lanes > 0) {
    registers_.insert(s.buffer.get());
    const std::vector<std::string> names =
        DeclareRegisters(s.buffer.get(), elements / lanes);
    Line(absl::StrCat(VectorType(s.buffer->dtype.with_lanes(lanes)), " ",
                      absl::StrJoin(names, ", "), ";"));
  } else {
    Line(absl::StrCat(ArrayPrefix(s.buffer->scope), MemoryType(s.buffer->dtype),
                      " ", name, "[", std::max<int64_t>(elements, 1), "];"));
  }
  Print(s.body);
}

}  // namespace ingot::codegen
