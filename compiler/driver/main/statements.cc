#include "compiler/driver/main/statements.h"

#include <algorithm>
#include <utility>

namespace ingot {

tir::Stmt Statements::Fold() const {
  std::vector<tir::Stmt> behind;  // from the last one to the first
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->stmt != nullptr) {
      behind.push_back(entry->stmt);
      continue;
    }
    std::reverse(behind.begin(), behind.end());
    tir::Stmt body = tir::MakeSeq(std::move(behind));
    behind = {entry->var != nullptr
                  ? tir::MakeLet(entry->var, entry->value, std::move(body))
                  : tir::MakePart(entry->part, entry->whole, entry->value,
                                  std::move(body))};
  }
  std::reverse(behind.begin(), behind.end());
  return tir::MakeSeq(std::move(behind));
}

}  // namespace ingot
