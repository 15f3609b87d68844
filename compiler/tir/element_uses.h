// Which threads have used an element, for the interpreter: threads of a block
// must not disturb one another. Private to this folder.
#ifndef INGOT_COMPILER_TIR_ELEMENT_USES_H_
#define INGOT_COMPILER_TIR_ELEMENT_USES_H_

#include <cstdint>

#include "compiler/tir/ir.h"

namespace ingot::tir {

// The place in a run of loops: what a block or a thread of it does.
struct RunPlace {
  int32_t kernel = 0;   // counts parallel and block loops
  int32_t block = -1;   // the iteration of such a loop; -1: outside of them
  int32_t phase = 0;    // counts thread loops
  int32_t thread = -1;  // the iteration of such a loop; -1: outside of them

  // Whether nothing says which of the two comes first.
  bool RunsBeside(const RunPlace& o) const;
};

// One element of a buffer.
class ElementUses {
 public:
  // Notes the use. Returns null, or what is wrong with it.
  const char* Read(Scope scope, const RunPlace& at);
  const char* Write(Scope scope, const RunPlace& at);

 private:
  const char* Own(Scope scope, const RunPlace& at);

  bool written_ = false, read_ = false, several_readers_ = false;
  RunPlace writer_, reader_;  // the last ones
};

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_ELEMENT_USES_H_
