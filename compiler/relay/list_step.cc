#include "compiler/relay/list_step.h"

#include "compiler/relay/op.h"

namespace ingot::relay {

ListStep ListStepOf(const Node& node) {
  ListStep step;
  step.op = FindListOp(node.op->name)->op;
  const TensorType& result = node.outputs[0];
  step.dtype = result.is_list ? result.dtype : node.inputs[0].type().dtype;
  step.axis = node.attrs.GetOr<int64_t>("axis", 0);
  step.flag = step.op == ListOp::kSplit
                  ? node.attrs.GetOr<int64_t>("keepdims", 1) != 0
                  : node.attrs.GetOr<int64_t>("new_axis", 0) != 0;
  return step;
}

}  // namespace ingot::relay
