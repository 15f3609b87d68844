// Chooses the primitive of a node, and with it the layouts of its operands.
#ifndef INGOT_BACKENDS_DNNL_PRIMITIVES_H_
#define INGOT_BACKENDS_DNNL_PRIMITIVES_H_

#include <vector>

#include "backends/dnnl/graph.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace ingot::dnnl_backend {

// A node, and how its operands are now.
struct PrimitiveRequest {
  struct Operand {
    Dims shape;
    dnnl::memory::desc desc;
    bool is_constant;
  };
  const Node* node = nullptr;
  std::vector<Operand> operands;
  Dims result;
};

struct MadePrimitive {
  struct Operand {
    int slot;                 // DNNL_ARG_…
    dnnl::memory::desc desc;  // as the primitive reads it
    // The row-major operand seen with the shape of `desc`, if that is another
    // one than its own; otherwise empty.
    dnnl::memory::desc view;
    // The index in `desc` at which the operand begins, if `desc` is larger:
    // around it are zeros. Otherwise empty.
    Dims margin;
  };
  dnnl::primitive primitive;
  dnnl::memory::desc scratchpad;
  std::vector<Operand> operands;  // one for each of the node's
  dnnl::memory::desc result;
  // The elements of `result` seen with the shape of the node's result, if that
  // is another one; otherwise empty.
  dnnl::memory::desc result_view;
  // The result may be written over the first operand.
  bool in_place = false;
};

// The node is checked (CheckGraph). Throws dnnl::error.
MadePrimitive MakePrimitive(const PrimitiveRequest& request,
                            const dnnl::engine& engine);

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_PRIMITIVES_H_
