#ifndef INGOT_COMPILER_DRIVER_MAIN_STATEMENTS_H_
#define INGOT_COMPILER_DRIVER_MAIN_STATEMENTS_H_

#include <utility>
#include <vector>

#include "compiler/tir/ir.h"

namespace ingot {

// A list of statements that is being made, in which a variable or a part is
// visible from its definition to the end.
class Statements {
 public:
  void Add(tir::Stmt stmt) {
    entries_.push_back({std::move(stmt), {}, {}, {}, {}});
  }
  void Let(tir::VarPtr var, tir::Expr value) {
    entries_.push_back({{}, std::move(var), std::move(value), {}, {}});
  }
  void Part(tir::Buffer buffer, tir::Buffer whole, tir::Expr offset) {
    entries_.push_back(
        {{}, {}, std::move(offset), std::move(buffer), std::move(whole)});
  }

  // The list as one statement.
  tir::Stmt Fold() const;

 private:
  struct Entry {
    tir::Stmt stmt;  // null for a definition
    tir::VarPtr var;
    tir::Expr value;  // of the variable; of a part, its offset
    tir::Buffer part, whole;
  };
  std::vector<Entry> entries_;
};

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_MAIN_STATEMENTS_H_
