#include "compiler/relay/sequence_step.h"

#include "compiler/relay/op.h"

namespace ingot::relay {

SequenceStep SequenceStepOf(const Node& node) {
  SequenceStep step;
  step.op = FindSequenceOp(node.op->name)->op;
  const TensorType& result = node.outputs[0];
  step.dtype = result.is_sequence ? result.dtype : node.inputs[0].type().dtype;
  if (node.op->FindAttr("axis") != nullptr) {
    step.axis = node.attrs.Get<int64_t>("axis");
  }
  if (step.op == SequenceOp::kSplit) {
    step.flag = node.attrs.Get<int64_t>("keepdims") != 0;
  } else if (step.op == SequenceOp::kConcat) {
    step.flag = node.attrs.Get<int64_t>("new_axis") != 0;
  }
  return step;
}

}  // namespace ingot::relay
