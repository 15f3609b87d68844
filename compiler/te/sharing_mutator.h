#ifndef INGOT_COMPILER_TE_SHARING_MUTATOR_H_
#define INGOT_COMPILER_TE_SHARING_MUTATOR_H_

#include <map>
#include <utility>

#include "compiler/tir/ir.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {

// Rewrites each node once, so that shared subexpressions stay shared.
class SharingMutator : public tir::ExprMutator {
 public:
  tir::Expr Mutate(const tir::Expr& e) override {
    auto it = done_.find(e.get());
    if (it != done_.end()) return it->second.second;
    tir::Expr result = tir::ExprMutator::Mutate(e);
    // The key is kept alive, so that its address stays its own.
    done_[e.get()] = {e, result};
    return result;
  }

 private:
  std::map<const tir::ExprNode*, std::pair<tir::Expr, tir::Expr>> done_;
};

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_SHARING_MUTATOR_H_
