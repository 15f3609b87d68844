// Machine code as text for a person.
#ifndef INGOT_BACKENDS_LLVM_CODE_LISTING_H_
#define INGOT_BACKENDS_LLVM_CODE_LISTING_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/types/span.h"
#include "backends/llvm/find_loops.h"

namespace ingot {

// The facts about a section's code that its instructions do not tell.
struct CodeNotes {
  std::multimap<uint64_t, std::string> labels;      // names by address
  std::multimap<uint64_t, std::string> references;  // what bytes refer to
  // The nodes of the model that a function computes, by its name.
  const std::map<std::string, std::string>* nodes;
};

// A line for each instruction, under labels with the nodes of the model. A
// branch or call within the section has the name or the loop that it goes to,
// an operand what it refers to. Innermost loops, which most of the time is
// spent in, have a bar at their left.
std::string ListCode(absl::Span<const Instruction> code,
                     const CodeNotes& notes);

}  // namespace ingot

#endif  // INGOT_BACKENDS_LLVM_CODE_LISTING_H_
