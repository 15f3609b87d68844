#ifndef INGOT_COMPILER_SCHEDULES_INLINED_SIZE_H_
#define INGOT_COMPILER_SCHEDULES_INLINED_SIZE_H_

#include <cstdint>
#include <map>

#include "compiler/te/schedule.h"

namespace ingot::te {

// Counts the nodes that the values of stages have once others are put where
// they are read. It does so without inlining: a value that reads its operand
// twice doubles it, so that a chain of a few dozen of these is larger than any
// memory. Numbers are upper bounds, cut off far above what is sensible.
class InlinedSizes {
 public:
  struct Size {
    int64_t nodes = 0;
    int64_t vars = 0;  // of these, uses of loop variables
  };

  // The size of a stage, asked for after the stages that it reads.
  Size Of(const Stage* stage) const;
  // From now on the stage, of this size, is put where it is read.
  void Inline(const Stage* stage, const Size& size);

 private:
  std::map<const tir::BufferNode*, Size> inlined_;
};

}  // namespace ingot::te

#endif  // INGOT_COMPILER_SCHEDULES_INLINED_SIZE_H_
