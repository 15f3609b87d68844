#include "compiler/tir/visitor.h"

#include <algorithm>
#include <utility>

namespace ingot::tir {

// ------------------------------------------------------------------- visitors

void ExprVisitor::Visit(const Expr& e) {
  switch (e->kind) {
#define INGOT_TIR_CASE(Name) \
  case ExprKind::k##Name:    \
    return Visit##Name(static_cast<const Name&>(*e));
    INGOT_TIR_EXPR_NODES(INGOT_TIR_CASE)
#undef INGOT_TIR_CASE
  }
}

void ExprVisitor::VisitIntImm(const IntImm& node) {}
void ExprVisitor::VisitFloatImm(const FloatImm& node) {}
void ExprVisitor::VisitVar(const Var& node) {}
void ExprVisitor::VisitUnary(const Unary& node) { Visit(node.a); }
void ExprVisitor::VisitBinary(const Binary& node) {
  Visit(node.a);
  Visit(node.b);
}
void ExprVisitor::VisitSelect(const Select& node) {
  Visit(node.condition);
  Visit(node.on_true);
  Visit(node.on_false);
}
void ExprVisitor::VisitCast(const Cast& node) { Visit(node.value); }
void ExprVisitor::VisitLoad(const Load& node) {
  for (const Expr& index : node.indices) Visit(index);
}
void ExprVisitor::VisitRamp(const Ramp& node) {
  Visit(node.base);
  Visit(node.stride);
}
void ExprVisitor::VisitBroadcast(const Broadcast& node) { Visit(node.value); }
void ExprVisitor::VisitCall(const Call& node) {
  for (const Expr& arg : node.args) Visit(arg);
}

void StmtVisitor::Visit(const Stmt& s) {
  switch (s->kind) {
#define INGOT_TIR_CASE(Name) \
  case StmtKind::k##Name:    \
    return Visit##Name(static_cast<const Name&>(*s));
    INGOT_TIR_STMT_NODES(INGOT_TIR_CASE)
#undef INGOT_TIR_CASE
  }
}

void StmtVisitor::VisitFor(const For& node) {
  Visit(node.min);
  Visit(node.extent);
  Visit(node.body);
}
void StmtVisitor::VisitStore(const Store& node) {
  for (const Expr& index : node.indices) Visit(index);
  Visit(node.value);
}
void StmtVisitor::VisitAllocate(const Allocate& node) {
  for (const Expr& dim : node.buffer->shape) Visit(dim);
  Visit(node.body);
}
void StmtVisitor::VisitIfThenElse(const IfThenElse& node) {
  Visit(node.condition);
  Visit(node.then_body);
  if (node.else_body != nullptr) Visit(node.else_body);
}
void StmtVisitor::VisitSeq(const Seq& node) {
  for (const Stmt& stmt : node.stmts) Visit(stmt);
}
void StmtVisitor::VisitLetStmt(const LetStmt& node) {
  Visit(node.value);
  Visit(node.body);
}
void StmtVisitor::VisitWhile(const While& node) {
  Visit(node.condition);
  Visit(node.body);
}
void StmtVisitor::VisitEvaluate(const Evaluate& node) { Visit(node.value); }
void StmtVisitor::VisitCallExtern(const CallExtern& node) {
  for (const Expr& scalar : node.scalars) Visit(scalar);
}

void StmtVisitor::VisitPart(const Part& node) {
  for (const Expr& dim : node.buffer->shape) Visit(dim);
  Visit(node.offset);
  Visit(node.body);
}
void StmtVisitor::VisitAssert(const Assert& node) { Visit(node.condition); }
void StmtVisitor::VisitPrefetch(const Prefetch& node) {
  for (const Expr& index : node.indices) Visit(index);
}

// ------------------------------------------------------------------- mutators

Expr ExprMutator::Mutate(const Expr& e) {
  switch (e->kind) {
#define INGOT_TIR_CASE(Name) \
  case ExprKind::k##Name:    \
    return Mutate##Name(e, static_cast<const Name&>(*e));
    INGOT_TIR_EXPR_NODES(INGOT_TIR_CASE)
#undef INGOT_TIR_CASE
  }
  return e;
}

std::vector<Expr> ExprMutator::MutateAll(const std::vector<Expr>& exprs,
                                         bool* changed) {
  std::vector<Expr> result;
  result.reserve(exprs.size());
  for (const Expr& e : exprs) {
    result.push_back(Mutate(e));
    if (result.back() != e) *changed = true;
  }
  return result;
}

Expr ExprMutator::MutateIntImm(const Expr& e, const IntImm& node) { return e; }
Expr ExprMutator::MutateFloatImm(const Expr& e, const FloatImm& node) {
  return e;
}
Expr ExprMutator::MutateVar(const Expr& e, const Var& node) { return e; }
Expr ExprMutator::MutateUnary(const Expr& e, const Unary& node) {
  Expr a = Mutate(node.a);
  return a == node.a ? e : MakeUnary(node.op, std::move(a));
}
Expr ExprMutator::MutateBinary(const Expr& e, const Binary& node) {
  Expr a = Mutate(node.a);
  Expr b = Mutate(node.b);
  if (a == node.a && b == node.b) return e;
  return MakeBinary(node.op, std::move(a), std::move(b));
}
Expr ExprMutator::MutateSelect(const Expr& e, const Select& node) {
  Expr condition = Mutate(node.condition);
  Expr on_true = Mutate(node.on_true);
  Expr on_false = Mutate(node.on_false);
  if (condition == node.condition && on_true == node.on_true &&
      on_false == node.on_false) {
    return e;
  }
  return MakeSelect(std::move(condition), std::move(on_true),
                    std::move(on_false));
}
Expr ExprMutator::MutateCast(const Expr& e, const Cast& node) {
  Expr value = Mutate(node.value);
  return value == node.value ? e : MakeCast(node.dtype, std::move(value));
}
Expr ExprMutator::MutateLoad(const Expr& e, const Load& node) {
  bool changed = false;
  std::vector<Expr> indices = MutateAll(node.indices, &changed);
  return changed ? MakeLoad(node.buffer, std::move(indices)) : e;
}
Expr ExprMutator::MutateRamp(const Expr& e, const Ramp& node) {
  Expr base = Mutate(node.base);
  Expr stride = Mutate(node.stride);
  if (base == node.base && stride == node.stride) return e;
  return MakeRamp(std::move(base), std::move(stride), node.dtype.lanes);
}
Expr ExprMutator::MutateBroadcast(const Expr& e, const Broadcast& node) {
  Expr value = Mutate(node.value);
  return value == node.value ? e
                             : MakeBroadcast(std::move(value), e->dtype.lanes);
}
Expr ExprMutator::MutateCall(const Expr& e, const Call& node) {
  bool changed = false;
  std::vector<Expr> args = MutateAll(node.args, &changed);
  return changed ? MakeCall(node.intrinsic, std::move(args)) : e;
}

Stmt StmtMutator::Mutate(const Stmt& s) {
  switch (s->kind) {
#define INGOT_TIR_CASE(Name) \
  case StmtKind::k##Name:    \
    return Mutate##Name(s, static_cast<const Name&>(*s));
    INGOT_TIR_STMT_NODES(INGOT_TIR_CASE)
#undef INGOT_TIR_CASE
  }
  return s;
}

void StmtMutator::ReplaceBuffer(const Buffer& from, Buffer to) {
  replaced_[from.get()] = std::move(to);
}

Buffer StmtMutator::Replacement(const Buffer& buffer) const {
  auto it = replaced_.find(buffer.get());
  return it == replaced_.end() ? buffer : it->second;
}

Expr StmtMutator::MutateLoad(const Expr& e, const Load& node) {
  Buffer buffer = Replacement(node.buffer);
  bool changed = buffer != node.buffer;
  std::vector<Expr> indices = MutateAll(node.indices, &changed);
  return changed ? MakeLoad(std::move(buffer), std::move(indices)) : e;
}

Stmt StmtMutator::MutateFor(const Stmt& s, const For& node) {
  Expr min = Mutate(node.min);
  Expr extent = Mutate(node.extent);
  Stmt body = Mutate(node.body);
  if (min == node.min && extent == node.extent && body == node.body) return s;
  return MakeFor(node.var, std::move(min), std::move(extent), node.for_kind,
                 std::move(body));
}

Stmt StmtMutator::MutateStore(const Stmt& s, const Store& node) {
  Buffer buffer = Replacement(node.buffer);
  bool changed = buffer != node.buffer;
  std::vector<Expr> indices = MutateAll(node.indices, &changed);
  Expr value = Mutate(node.value);
  if (!changed && value == node.value) return s;
  return MakeStore(std::move(buffer), std::move(indices), std::move(value));
}

Buffer StmtMutator::MutateDefinition(const Buffer& buffer) {
  bool changed = false;
  std::vector<Expr> shape = MutateAll(buffer->shape, &changed);
  if (!changed) return buffer;
  Buffer reshaped =
      MakeBuffer(buffer->name, buffer->dtype, std::move(shape), buffer->scope);
  ReplaceBuffer(buffer, reshaped);
  return reshaped;
}

Stmt StmtMutator::MutateAllocate(const Stmt& s, const Allocate& node) {
  Buffer buffer = MutateDefinition(node.buffer);
  Stmt body = Mutate(node.body);
  if (buffer == node.buffer && body == node.body) return s;
  return MakeAllocate(std::move(buffer), std::move(body));
}

Stmt StmtMutator::MutateIfThenElse(const Stmt& s, const IfThenElse& node) {
  Expr condition = Mutate(node.condition);
  Stmt then_body = Mutate(node.then_body);
  Stmt else_body = node.else_body == nullptr ? nullptr : Mutate(node.else_body);
  if (condition == node.condition && then_body == node.then_body &&
      else_body == node.else_body) {
    return s;
  }
  return MakeIf(std::move(condition), std::move(then_body),
                std::move(else_body));
}

Stmt StmtMutator::MutateSeq(const Stmt& s, const Seq& node) {
  std::vector<Stmt> stmts;
  stmts.reserve(node.stmts.size());
  bool changed = false;
  for (const Stmt& stmt : node.stmts) {
    stmts.push_back(Mutate(stmt));
    if (stmts.back() != stmt) changed = true;
  }
  return changed ? MakeSeq(std::move(stmts)) : s;
}

Stmt StmtMutator::MutateLetStmt(const Stmt& s, const LetStmt& node) {
  Expr value = Mutate(node.value);
  Stmt body = Mutate(node.body);
  if (value == node.value && body == node.body) return s;
  return MakeLet(node.var, std::move(value), std::move(body));
}

Stmt StmtMutator::MutateWhile(const Stmt& s, const While& node) {
  Expr condition = Mutate(node.condition);
  Stmt body = Mutate(node.body);
  if (condition == node.condition && body == node.body) return s;
  return MakeWhile(std::move(condition), std::move(body));
}

Stmt StmtMutator::MutateEvaluate(const Stmt& s, const Evaluate& node) {
  Expr value = Mutate(node.value);
  return value == node.value ? s : MakeEvaluate(std::move(value));
}

Stmt StmtMutator::MutateCallExtern(const Stmt& s, const CallExtern& node) {
  bool changed = false;
  std::vector<Expr> scalars = MutateAll(node.scalars, &changed);
  std::vector<Buffer> reads = node.reads, writes = node.writes;
  for (std::vector<Buffer>* list : {&reads, &writes}) {
    for (Buffer& buffer : *list) {
      Buffer now = Replacement(buffer);
      changed |= now != buffer;
      buffer = std::move(now);
    }
  }
  if (!changed) return s;
  return MakeCallExtern(node.symbol, std::move(reads), std::move(writes),
                        std::move(scalars));
}

Stmt StmtMutator::MutatePart(const Stmt& s, const Part& node) {
  Buffer buffer = MutateDefinition(node.buffer);
  Buffer whole = Replacement(node.whole);
  Expr offset = Mutate(node.offset);
  Stmt body = Mutate(node.body);
  if (buffer == node.buffer && whole == node.whole && offset == node.offset &&
      body == node.body) {
    return s;
  }
  return MakePart(std::move(buffer), std::move(whole), std::move(offset),
                  std::move(body));
}

Stmt StmtMutator::MutateAssert(const Stmt& s, const Assert& node) {
  Expr condition = Mutate(node.condition);
  return condition == node.condition
             ? s
             : MakeAssert(std::move(condition), node.message);
}

Stmt StmtMutator::MutatePrefetch(const Stmt& s, const Prefetch& node) {
  Buffer buffer = Replacement(node.buffer);
  bool changed = buffer != node.buffer;
  std::vector<Expr> indices = MutateAll(node.indices, &changed);
  return changed ? MakePrefetch(std::move(buffer), std::move(indices),
                                node.ahead, node.bytes)
                 : s;
}

// ------------------------------------------------------------------ functions

namespace {

class ExternFinder final : public StmtVisitor {
 public:
  std::vector<const CallExtern*> found;

 private:
  void VisitCallExtern(const CallExtern& node) override {
    found.push_back(&node);
  }
};

class Substituter final : public StmtMutator {
 public:
  explicit Substituter(const std::map<const Var*, Expr>& map) : map_(map) {}

 private:
  Expr MutateVar(const Expr& e, const Var& node) override {
    auto it = map_.find(&node);
    return it == map_.end() ? e : it->second;
  }

  const std::map<const Var*, Expr>& map_;
};

class Finder final : public StmtVisitor {
 public:
  explicit Finder(const Var* var) : var_(var) {}
  bool found = false;

 private:
  void VisitVar(const Var& node) override { found |= &node == var_; }
  void VisitLoad(const Load& node) override {
    found |= var_ == nullptr;  // looking for loads
    StmtVisitor::VisitLoad(node);
  }

  const Var* const var_;
};

class VarCollector final : public ExprVisitor {
 public:
  std::vector<const Var*> vars;

 protected:
  void VisitVar(const Var& var) override {
    if (std::find(vars.begin(), vars.end(), &var) == vars.end()) {
      vars.push_back(&var);
    }
  }
};

}  // namespace

Expr Substitute(const Expr& e, const std::map<const Var*, Expr>& map) {
  return map.empty() ? e : Substituter(map).Mutate(e);
}

Stmt Substitute(const Stmt& s, const std::map<const Var*, Expr>& map) {
  return map.empty() ? s : Substituter(map).Mutate(s);
}

std::vector<const Var*> VarsOf(const Expr& e) {
  VarCollector collector;
  collector.Visit(e);
  return std::move(collector.vars);
}

std::vector<const Var*> SymbolicDims(const PrimFunc& func) {
  VarCollector collector;
  for (const Buffer& param : func.params) {
    for (const Expr& dim : param->shape) collector.Visit(dim);
  }
  return std::move(collector.vars);
}

bool Uses(const Expr& e, const Var* var) {
  Finder finder(var);
  finder.Visit(e);
  return finder.found;
}

bool Uses(const Stmt& s, const Var* var) {
  Finder finder(var);
  finder.Visit(s);
  return finder.found;
}

std::vector<const CallExtern*> FindExternCalls(const Stmt& s) {
  ExternFinder finder;
  finder.Visit(s);
  return std::move(finder.found);
}

bool HasLoad(const Expr& e) {
  Finder finder(nullptr);
  finder.Visit(e);
  return finder.found;
}

}  // namespace ingot::tir
