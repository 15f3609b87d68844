#include "backends/llvm/find_loops.h"

#include <algorithm>
#include <map>

namespace ingot {

std::vector<Loop> FindLoops(absl::Span<const Instruction> function) {
  // The last branch back to each first instruction.
  std::map<size_t, size_t> ends;
  for (size_t i = 0; i < function.size(); ++i) {
    const Instruction& instruction = function[i];
    if (!instruction.target || instruction.is_call ||
        *instruction.target > instruction.address) {
      continue;
    }
    const auto head =
        std::lower_bound(function.begin(), function.end(), *instruction.target,
                         [](const Instruction& each, uint64_t address) {
                           return each.address < address;
                         });
    if (head == function.end() || head->address != *instruction.target) {
      continue;
    }
    ends[static_cast<size_t>(head - function.begin())] = i;
  }
  std::vector<Loop> loops;
  std::vector<size_t> open;  // indices of the loops around
  for (const auto& [first, last] : ends) {
    while (!open.empty() && loops[open.back()].last < first) open.pop_back();
    if (!open.empty()) loops[open.back()].is_innermost = false;
    loops.push_back({first, last, static_cast<int>(open.size()) + 1, true});
    open.push_back(loops.size() - 1);
  }
  return loops;
}

}  // namespace ingot
