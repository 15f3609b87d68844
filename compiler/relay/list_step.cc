#include "compiler/relay/list_step.h"

#include "compiler/relay/op.h"

namespace ingot::relay {

ListStep ListStepOf(const Node& node) {
  ListStep step;
  step.op = FindListOp(node.op->name)->op;
  const TensorType& result = node.outputs[0];
  step.dtype = result.is_list ? result.dtype : node.inputs[0].type().dtype;
  if (node.op->FindAttr("axis") != nullptr) {
    step.axis = node.attrs.Get<int64_t>("axis");
  }
  if (step.op == ListOp::kSplit) {
    step.flag = node.attrs.Get<int64_t>("keepdims") != 0;
  } else if (step.op == ListOp::kConcat) {
    step.flag = node.attrs.Get<int64_t>("new_axis") != 0;
  }
  return step;
}

}  // namespace ingot::relay
