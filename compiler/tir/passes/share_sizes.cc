// share_sizes: a name for what several expressions make of the function's
// symbols.
//
//   for i in [0, (h + 1) // 2 * 3) { %y[(h + 1) // 2 + i] = %x[i] }
//
//   ->  let size: i64 = (h + 1) // 2
//       for i in [0, size * 3) { %y[size + i] = %x[i] }
//
// Compilers find such expressions, too, but people read them, and a
// concatenation of n parts of unknown lengths has n^2 / 2 terms.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/tir/passes/passes.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

// Expressions of fewer operators say more than a name.
constexpr int kFewestOperators = 2;

constexpr int kNone = -1;

// Expressions that have a value before the function runs: of constants and of
// the function's symbols. Equal ones are one; operands come before what is made
// of them.
class Sizes {
 public:
  struct Size {
    Expr expr;
    std::vector<int> operands;
    int operators = 0;
    int uses = 0;      // by statements, and by other sizes once each
    size_t first = 0;  // the statement that uses it first, in any way
    VarPtr name;
  };

  explicit Sizes(const PrimFunc& func) {
    for (const Var* var : SymbolicDims(func)) symbols_.insert(var);
  }

  std::vector<Size>& all() { return all_; }

  // The number of `e`, an expression of the function that this statement uses;
  // kNone where it is none of these.
  int Find(const Expr& e, size_t statement);

 private:
  int Add(const Expr& e, const std::string& key, std::vector<int> operands,
          size_t statement);
  // The parts of `e`; kNone among them where it is no size. Its key, but for
  // these.
  std::string Decompose(const Expr& e, std::vector<Expr>* operands) const;

  std::set<const Var*> symbols_;
  std::vector<Size> all_;
  std::map<std::string, int> known_;
  std::map<const ExprNode*, int> found_;  // of the function, which outlives it
};

std::string Sizes::Decompose(const Expr& e, std::vector<Expr>* operands) const {
  const std::string type = e->dtype.ToString();
  switch (e->kind) {
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
      return absl::StrCat("constant ", type, " ", Print(e));
    case ExprKind::kVar: {
      const auto* var = static_cast<const Var*>(e.get());
      if (symbols_.count(var) == 0) return "";
      return absl::StrCat("symbol ", reinterpret_cast<uintptr_t>(var));
    }
    case ExprKind::kCast:
      *operands = {static_cast<const Cast&>(*e).value};
      return absl::StrCat("cast ", type);
    case ExprKind::kBinary: {
      const auto& binary = static_cast<const Binary&>(*e);
      if (binary.op > BinaryOp::kMax) return "";
      // Nothing is divided by earlier than before that might be 0.
      const bool divides = binary.op == BinaryOp::kFloorDiv ||
                           binary.op == BinaryOp::kFloorMod ||
                           binary.op == BinaryOp::kDiv ||
                           binary.op == BinaryOp::kMod;
      if (divides && As<IntImm>(binary.b) == nullptr &&
          As<FloatImm>(binary.b) == nullptr) {
        return "";
      }
      *operands = {binary.a, binary.b};
      return absl::StrCat("binary ", static_cast<int>(binary.op), " ", type);
    }
    default:
      return "";
  }
}

int Sizes::Find(const Expr& e, size_t statement) {
  const auto [place, is_new] = found_.emplace(e.get(), kNone);
  if (!is_new) return place->second;
  std::vector<Expr> operands;
  std::string key = Decompose(e, &operands);
  if (key.empty()) return kNone;
  std::vector<int> numbers;
  for (const Expr& operand : operands) {
    numbers.push_back(Find(operand, statement));
    if (numbers.back() == kNone) return kNone;
    absl::StrAppend(&key, " ", numbers.back());
  }
  return found_[e.get()] = Add(e, key, std::move(numbers), statement);
}

int Sizes::Add(const Expr& e, const std::string& key, std::vector<int> operands,
               size_t statement) {
  const auto [place, is_new] =
      known_.emplace(key, static_cast<int>(all_.size()));
  if (!is_new) return place->second;
  Size size;
  size.expr = e;
  size.operators = operands.empty() ? 0 : 1;
  size.first = statement;
  for (int operand : operands) {
    size.operators += all_[operand].operators;
    ++all_[operand].uses;
  }
  size.operands = std::move(operands);
  all_.push_back(std::move(size));
  return place->second;
}

// Counts the sizes that statements use.
class UseCounter final : public StmtVisitor {
 public:
  explicit UseCounter(Sizes* sizes) : sizes_(*sizes) {}

  using StmtVisitor::Visit;
  void Visit(const Expr& e) override {
    const int size = sizes_.Find(e, statement_);
    if (size == kNone) return StmtVisitor::Visit(e);
    ++sizes_.all()[size].uses;
  }

  // The names of variables in what was visited.
  std::set<std::string>* taken() { return &taken_; }
  void StartStatement(size_t statement) { statement_ = statement; }

 protected:
  void VisitFor(const For& node) override {
    taken_.insert(node.var->name);
    StmtVisitor::VisitFor(node);
  }
  void VisitLetStmt(const LetStmt& node) override {
    taken_.insert(node.var->name);
    StmtVisitor::VisitLetStmt(node);
  }

 private:
  Sizes& sizes_;
  std::set<std::string> taken_;
  size_t statement_ = 0;
};

class UseReplacer final : public StmtMutator {
 public:
  explicit UseReplacer(Sizes* sizes) : sizes_(*sizes) {}

  using StmtMutator::Mutate;
  Expr Mutate(const Expr& e) override {
    const int size = sizes_.Find(e, 0);
    if (size == kNone) return StmtMutator::Mutate(e);
    return sizes_.all()[size].name != nullptr ? Expr(sizes_.all()[size].name)
                                              : StmtMutator::Mutate(e);
  }

  // The size without its own name, but with those of its parts.
  Expr Value(int size) { return StmtMutator::Mutate(sizes_.all()[size].expr); }

 private:
  Sizes& sizes_;
};

// Names in the order of the sizes, none of which is in `taken`.
void NameShared(std::set<std::string> taken, std::vector<Sizes::Size>* sizes) {
  int next = 0;
  for (Sizes::Size& size : *sizes) {
    if (size.uses < 2 || size.operators < kFewestOperators) continue;
    std::string name;
    do {
      name = next == 0 ? "size" : absl::StrCat("size_", next);
      ++next;
    } while (!taken.insert(name).second);
    size.name = MakeVar(name, size.expr->dtype);
  }
}

}  // namespace

absl::StatusOr<PrimFunc> ShareSizes(const PrimFunc& func) {
  std::vector<Stmt> statements = {func.body};
  if (const auto* seq = As<Seq>(func.body)) statements = seq->stmts;
  Sizes sizes(func);
  UseCounter counter(&sizes);
  for (const Var* var : SymbolicDims(func)) counter.taken()->insert(var->name);
  for (size_t i = 0; i < statements.size(); ++i) {
    counter.StartStatement(i);
    counter.Visit(statements[i]);
  }
  NameShared(*counter.taken(), &sizes.all());

  // A name is there from the first statement on that uses it: those before
  // may find that sizes are too large to work with.
  UseReplacer replacer(&sizes);
  const int count = static_cast<int>(sizes.all().size());
  std::vector<Stmt> after;
  bool changed = false;
  for (size_t i = statements.size(); i-- > 0;) {
    after.insert(after.begin(), replacer.Mutate(statements[i]));
    for (int s = count; s-- > 0;) {
      const Sizes::Size& size = sizes.all()[s];
      if (size.name == nullptr || size.first != i) continue;
      after = {MakeLet(size.name, replacer.Value(s), MakeSeq(after))};
      changed = true;
    }
  }
  if (!changed) return func;
  PrimFunc result = func;
  result.body = MakeSeq(std::move(after));
  return result;
}

}  // namespace ingot::tir
