// The symbols in the shapes of a kernel, and the operands that it has for their
// sake. Private to this folder.
#ifndef INGOT_COMPILER_RELAY_PASSES_KERNEL_SYMBOLS_H_
#define INGOT_COMPILER_RELAY_PASSES_KERNEL_SYMBOLS_H_

#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"

namespace ingot::relay {

// Whether a run can read each of its symbols from an input of which it is a
// dimension; without that input and its symbols, if one is given.
bool ReadsSymbols(const Function& kernel, const Node* without = nullptr);

// Makes symbols for a kernel, each of another name than its own ones and those
// made before: the kernel's text would mean another one if two had the same.
class SymbolMaker {
 public:
  explicit SymbolMaker(const Function& kernel);

  // Makes one of that name, or of one that begins with it.
  tir::VarPtr Make(absl::string_view name);

 private:
  std::set<std::string> taken_;
};

// The inputs that no node reads and that are no result: they only tell the
// kernel what its symbols are.
std::set<const Node*> InputsNotRead(const Function& kernel);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_KERNEL_SYMBOLS_H_
