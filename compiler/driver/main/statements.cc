#include "compiler/driver/main/statements.h"

#include <algorithm>
#include <utility>

namespace ingot {

tir::Stmt Statements::Fold() const {
  std::vector<tir::Stmt> after;  // from the last one to the first
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->stmt != nullptr) {
      after.push_back(entry->stmt);
      continue;
    }
    std::reverse(after.begin(), after.end());
    tir::Stmt body = tir::MakeSeq(std::move(after));
    after = {entry->var != nullptr
                 ? tir::MakeLet(entry->var, entry->value, std::move(body))
                 : tir::MakePart(entry->part, entry->whole, entry->value,
                                 std::move(body))};
  }
  std::reverse(after.begin(), after.end());
  return tir::MakeSeq(std::move(after));
}

}  // namespace ingot
