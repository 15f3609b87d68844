// Loops of a block that can copy the data of later iterations into shared
// memory while they compute one. Private to this folder and its subfolders.
#ifndef INGOT_COMPILER_CODEGEN_DEVICE_PIPELINES_H_
#define INGOT_COMPILER_CODEGEN_DEVICE_PIPELINES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "compiler/codegen/box_copy.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// A loop whose iterations begin with thread loops that only copy, into shared
// memory that nothing else uses, what nothing in the loop writes: these may run
// some iterations ahead, if each iteration has buffers of its own. A value;
// valid as long as the loop.
struct Pipeline {
  std::vector<const tir::LetStmt*> lets;  // what each iteration names first
  std::vector<const tir::For*> copies;
  std::vector<tir::Stmt> rest;                  // of the body
  std::vector<const tir::BufferNode*> buffers;  // that the copies fill
  // So many iterations have their buffers at once: at least two, and no more
  // than the loop has.
  int64_t slots = 0;
  // The copies, where all are of boxes, on a device that makes such on its own.
  std::vector<BoxCopy> boxes;

  bool IsOfBoxes() const { return !boxes.empty(); }
};

using Pipelines = std::map<const tir::For*, Pipeline>;

// Finds them in a block loop. All of its shared buffers, with what the
// pipelines have beside them, have at most `room` bytes. Copies of inputs of
// `boxes_of` may be of boxes; null: the device has no such.
Pipelines FindPipelines(const tir::For& block, int64_t room,
                        const tir::PrimFunc* boxes_of = nullptr);

// The smallest multiple that is at least `bytes`.
constexpr int64_t RoundUp(int64_t bytes, int64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

// Devices move at most so many bytes at once; shared memory begins at their
// multiples.
inline constexpr int64_t kSharedAlignment = 16;

// Boxes are copied to multiples of so many bytes: eight rows, which are
// swizzled together.
inline constexpr int64_t kBoxAlignment = 8 * BoxCopy::kRowBytes;

// A loop that copies boxes has a barrier for each of its slots.
inline constexpr int64_t kBoxBarrierBytes = 8;

// The multiple of bytes that a shared buffer and its slots begin at.
int64_t AlignmentOf(const Pipelines& pipelines, const tir::BufferNode& buffer);

// The bytes from a shared buffer's slot to the next: a multiple of
// kSharedAlignment.
int64_t SlotBytes(const tir::BufferNode& buffer);

// Returns how many of a shared buffer there are.
int64_t SlotsOf(const Pipelines& pipelines, const tir::BufferNode& buffer);

// The bytes of all shared buffers of a block, each at a multiple of its
// alignment, and of barriers.
int64_t SharedBytesOf(const tir::For& block, const Pipelines& pipelines);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_DEVICE_PIPELINES_H_
