// A node's operands in a formula. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_COMPOSE_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_COMPOSE_H_

#include "compiler/frontends/onnx/graph/context.h"
#include "compiler/relay/import/compose.h"

namespace ingot::onnx_frontend {

class Compose : public relay::Compose {
 public:
  explicit Compose(NodeContext& c) : relay::Compose(c), c_(c) {}

  NodeContext& context() { return c_; }
  // The node's operand.
  Value Input(int i) { return ok() ? Take(c_.Input(i)) : Value{}; }

 private:
  NodeContext& c_;
};

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_COMPOSE_H_
