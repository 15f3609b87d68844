#ifndef INGOT_COMPILER_TIR_VISITOR_H_
#define INGOT_COMPILER_TIR_VISITOR_H_

#include <map>
#include <vector>

#include "compiler/tir/ir.h"

namespace ingot::tir {

// Walks over expressions and statements. Derive, override what is of interest,
// and call the base class's function to go on into the children. None of these
// keeps anything that it visits alive, and none is safe to share among threads
// while it runs. They recurse: an expression as deep as the stack is too deep
// (the parser limits what a file can ask for).

// Visits every node of an expression, operands from left to right.
class ExprVisitor {
 public:
  virtual ~ExprVisitor() = default;
  virtual void Visit(const Expr& e);

 protected:
#define INGOT_TIR_DECLARE(Name) virtual void Visit##Name(const Name& node);
  INGOT_TIR_EXPR_NODES(INGOT_TIR_DECLARE)
#undef INGOT_TIR_DECLARE
};

// Visits every statement, and the expressions in it, in the order of the text.
// The shapes of allocated buffers and of parts count as expressions; a buffer
// at its uses does not.
class StmtVisitor : public ExprVisitor {
 public:
  using ExprVisitor::Visit;
  virtual void Visit(const Stmt& s);

 protected:
#define INGOT_TIR_DECLARE(Name) virtual void Visit##Name(const Name& node);
  INGOT_TIR_STMT_NODES(INGOT_TIR_DECLARE)
#undef INGOT_TIR_DECLARE
};

// Rebuilds an expression through the builder, so the result is folded. Where
// no operand changed, the result is the same pointer: `out == in` tells for
// free whether anything was done. Each function gets the node both as an Expr,
// to return, and as its own type.
class ExprMutator {
 public:
  virtual ~ExprMutator() = default;
  virtual Expr Mutate(const Expr& e);

 protected:
#define INGOT_TIR_DECLARE(Name) \
  virtual Expr Mutate##Name(const Expr& e, const Name& node);
  INGOT_TIR_EXPR_NODES(INGOT_TIR_DECLARE)
#undef INGOT_TIR_DECLARE

  // Mutates each; *changed is set, never cleared.
  std::vector<Expr> MutateAll(const std::vector<Expr>& exprs, bool* changed);
};

// The same for statements. An allocated buffer or a part whose shape changes
// becomes a new buffer, and its uses inside follow.
class StmtMutator : public ExprMutator {
 public:
  using ExprMutator::Mutate;
  virtual Stmt Mutate(const Stmt& s);

 protected:
#define INGOT_TIR_DECLARE(Name) \
  virtual Stmt Mutate##Name(const Stmt& s, const Name& node);
  INGOT_TIR_STMT_NODES(INGOT_TIR_DECLARE)
#undef INGOT_TIR_DECLARE

  Expr MutateLoad(const Expr& e, const Load& node) override;

  // From here on, uses of `from` become uses of `to`.
  void ReplaceBuffer(const Buffer& from, Buffer to);
  // The replacement of `buffer`; itself if it was not replaced.
  Buffer Replacement(const Buffer& buffer) const;

 private:
  // The buffer that a statement defines, with the shape's expressions changed:
  // a new one, which its uses follow, or itself.
  Buffer MutateDefinition(const Buffer& buffer);

  std::map<const BufferNode*, Buffer> replaced_;
};

// Replaces variables by expressions of the same type. Loop variables and let
// bindings in `s` are not renamed: the caller sees to it that no replacement
// mentions one of them.
Expr Substitute(const Expr& e, const std::map<const Var*, Expr>& map);
Stmt Substitute(const Stmt& s, const std::map<const Var*, Expr>& map);

// The variables in it, each once, in order of appearance.
std::vector<const Var*> VarsOf(const Expr& e);

// The variables in the shapes of the parameters, in order of appearance.
std::vector<const Var*> SymbolicDims(const PrimFunc& func);

// Whether `var` occurs.
bool Uses(const Expr& e, const Var* var);
bool Uses(const Stmt& s, const Var* var);

// The calls of other code in `s`, in the order of the text. They live as long
// as `s` does.
std::vector<const CallExtern*> FindExternCalls(const Stmt& s);

// Whether the expression reads memory: its value then depends on when it is
// evaluated.
bool HasLoad(const Expr& e);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_VISITOR_H_
