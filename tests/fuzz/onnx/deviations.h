// The list of nodes for which ONNX Runtime is no reference: it departs from
// ONNX's specification there, or the specification is ambiguous.
#ifndef INGOT_TESTS_FUZZ_ONNX_DEVIATIONS_H_
#define INGOT_TESTS_FUZZ_ONNX_DEVIATIONS_H_

#include <string>
#include <vector>

#include "onnx/onnx.pb.h"
#include "tests/fuzz/onnx/evaluate.h"

namespace ingot::fuzz {

// Nodes that are left out of models, since ONNX Runtime is no reference for
// them.
struct Deviation {
  std::string op;
  // Says which nodes of the operator; `scope` has their operands and results.
  bool (*applies)(const onnx::NodeProto& node, const Scope& scope);
  std::string why;
};

const std::vector<Deviation>& Deviations();

// Whether one of them applies to the node.
bool Deviates(const onnx::NodeProto& node, const Scope& scope);

// Operators of ONNX's own domain that the models leave out, and why.
const std::map<std::string, std::string>& UnsampledOperators();

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_DEVIATIONS_H_
