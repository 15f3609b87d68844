// Memory for the intermediate results of a kernel. Used by lower.cc only.
#ifndef INGOT_COMPILER_TE_WORKSPACES_H_
#define INGOT_COMPILER_TE_WORKSPACES_H_

#include <map>
#include <vector>

#include "compiler/te/loop_state.h"
#include "compiler/te/schedule.h"
#include "compiler/te/side.h"
#include "compiler/tir/ir.h"

namespace ingot::te {

class Workspaces {
 public:
  // Chooses where to keep the box of the stage's result that one iteration, in
  // `state`, computes and reads: on the stack if it is small; in a workspace of
  // its size, if no other thread computes another box meanwhile; in one of the
  // tensor's size otherwise; or as `placement` says. Sets *local when the place
  // is an array to be allocated around its uses, and counts what is on the
  // stack in the state.
  Place PlaceFor(const Stage& stage, const Placement& placement,
                 const std::vector<Side>& box, LoopState* state,
                 tir::Buffer* local);

  // The workspace for a whole tensor, made when it is first asked for.
  tir::Buffer WholeOf(const Tensor& t);

  // All that were made, in that order.
  const std::vector<tir::Buffer>& all() const { return all_; }

 private:
  // The workspace for a part of the tensor of that shape, which one iteration
  // after the other computes in the same place.
  tir::Buffer PartOf(const Tensor& t, std::vector<Expr> shape);

  std::vector<tir::Buffer> all_;
  std::map<const tir::BufferNode*, tir::Buffer> whole_, part_;
};

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_WORKSPACES_H_
