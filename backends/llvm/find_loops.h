// Loops of machine code.
#ifndef INGOT_BACKENDS_LLVM_FIND_LOOPS_H_
#define INGOT_BACKENDS_LLVM_FIND_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace ingot {

struct Instruction {
  uint64_t address = 0, size = 0;  // bytes
  std::string text;
  std::optional<uint64_t> target;  // of a branch or call, where it is known
  bool is_call = false;
};

// The instructions from `first` up to `last`, which branches back to the first.
struct Loop {
  size_t first = 0, last = 0;
  int depth = 1;  // 1: in no other loop
  bool is_innermost = true;
};

// The loops of one function, by their first instructions: branches back to an
// instruction of it, as code that compilers make has them. Code that jumps into
// the middle of a loop may be described wrong. Takes n log n time.
std::vector<Loop> FindLoops(absl::Span<const Instruction> function);

}  // namespace ingot

#endif  // INGOT_BACKENDS_LLVM_FIND_LOOPS_H_
