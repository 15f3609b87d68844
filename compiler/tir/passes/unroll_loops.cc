// Copies the bodies of unrolled loops.
#include <utility>
#include <vector>

#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/passes/passes.h"
#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

// Nests of unrolled loops grow to no more statements than this.
constexpr int64_t kMaxStatements = 4096;

class StatementCounter final : public StmtVisitor {
 public:
  using StmtVisitor::Visit;
  void Visit(const Stmt& s) override {
    ++count;
    StmtVisitor::Visit(s);
  }
  void Visit(const Expr& e) override {}
  int64_t count = 0;
};

class Unroller final : public StmtMutator {
 private:
  Stmt MutateFor(const Stmt& s, const For& node) override {
    Stmt loop = StmtMutator::MutateFor(s, node);
    if (node.for_kind != ForKind::kUnrolled) return loop;
    const auto& inner = static_cast<const For&>(*loop);
    StatementCounter counter;
    counter.Visit(inner.body);
    int64_t extent;
    if (!AsConstInt(inner.extent, &extent) ||
        extent > kMaxStatements / counter.count) {
      return MakeFor(inner.var, inner.min, inner.extent, ForKind::kSerial,
                     inner.body);
    }
    std::vector<Stmt> copies;
    for (int64_t i = 0; i < extent; ++i) {
      copies.push_back(
          Substitute(inner.body, {{inner.var.get(), inner.min + i}}));
    }
    return MakeSeq(std::move(copies));
  }
};

}  // namespace

absl::StatusOr<PrimFunc> UnrollLoops(const PrimFunc& func) {
  PrimFunc result = func;
  result.body = Unroller().Mutate(func.body);
  return result.body == func.body ? result : Simplify(result);
}

}  // namespace ingot::tir
