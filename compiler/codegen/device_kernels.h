// Functions of loops as the kernels that a device runs one after the other.
#ifndef INGOT_COMPILER_CODEGEN_DEVICE_KERNELS_H_
#define INGOT_COMPILER_CODEGEN_DEVICE_KERNELS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/device_pipelines.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// A piece of a function's body. Its arguments are all of the function's
// parameters.
struct DeviceKernel {
  std::string name;  // "<function>_<number>"
  tir::Stmt body;
  // The loop that `body` is. Of a parallel loop the iterations are the work
  // items; of a block loop, the groups. Null: one work item runs `body`.
  const tir::For* loop = nullptr;
  // So many work items have something to do; those beyond them, which fill up
  // the last group, have nothing.
  int64_t iterations = 1;
  int64_t group = 0;  // work items that start together; 0: the device chooses
  // The thread loops of a block loop after which all of the group's items must
  // wait for one another.
  std::set<const tir::For*> barriers;
  Pipelines pipelines;  // in a block loop (CopyAhead)
  // The tensors of which the pipelines copy boxes, in their order. Whoever
  // launches the kernel gives it these as further arguments.
  std::vector<TensorMap> maps;
  // The bytes that the group shares, where they are more than kMaxSharedBytes:
  // whoever launches the kernel gives it these.
  int64_t launch_bytes = 0;

  bool IsBlocks() const;
  int64_t WorkItems() const;
};

// The most memory that the work items of a group share: what every device has.
inline constexpr int64_t kMaxSharedBytes = 48 << 10;

// Each statement of the function that is a parallel loop becomes a kernel in
// groups of `group`, and each that is a block loop one whose groups are its
// blocks: as many items as its largest thread loop has iterations. What stands
// between such loops becomes a kernel with one work item. Loops that run no
// iteration are left out. The kernels live as long as the function.
//
// Whoever launches a kernel sees to it that its arguments are at multiples of
// kAlignment (base/alignment.h), so that it can move several elements at once.
//
// Bodies of blocks are as one work item sees them: of registers, its own part,
// as a stack buffer.
//
// Unimplemented, with the function's name, for what no device can do: symbolic
// dimensions, calls of other code, checks, whose failure it cannot tell, and
// more than `shared_bytes` of a group.
absl::StatusOr<std::vector<DeviceKernel>> KernelsOf(
    const tir::PrimFunc& function, int64_t group = 0,
    int64_t shared_bytes = kMaxSharedBytes);

// Lets loops of the kernel's blocks copy ahead, on a device that does so, with
// at most `room` bytes for all that a group shares: with half of them, for two
// groups that share a core, where that is enough for three iterations. Of
// `boxes_of`, the kernel's function, the device may copy boxes of parameters on
// its own; null: it has no means for that.
void CopyAhead(int64_t room, const tir::PrimFunc* boxes_of,
               DeviceKernel* kernel);

// The nodes of the model that a function computes, for a comment in C or in
// assembly, whatever a model calls them: one line of ASCII that ends no
// comment. Empty where that is not known.
std::string NodesOf(const tir::PrimFunc& function);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_DEVICE_KERNELS_H_
