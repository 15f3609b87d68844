// Integers that are known while importing: constants, and dimensions and what
// is computed from them. Shapes that a model computes are followed with these.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_KNOWN_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_KNOWN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/relay/ir.h"
#include "compiler/tir/ir.h"
#include "onnx/onnx.pb.h"
#include "runtime/data_type.h"
#include "runtime/tensor.h"

namespace ingot::onnx_frontend {

// One known number: an i64 expression over symbolic dimensions (whatever the
// tensor's type; bool is 0 or 1), or a constant that is no integer.
struct KnownNumber {
  tir::Expr integer;  // null: `fraction` holds the value
  double fraction = 0;

  static KnownNumber Of(int64_t value) { return {tir::MakeInt(value), 0}; }
  static KnownNumber Of(double value);
  // True, with the value, for constants.
  bool AsDouble(double* value) const;
  bool AsInt(int64_t* value) const {
    return integer != nullptr && tir::AsConstInt(integer, value);
  }
};

// A small tensor of known numbers, row-major.
struct Known {
  DataType dtype;
  std::vector<int64_t> shape;
  std::vector<KnownNumber> values;

  bool AllConstant() const;
  // Whether the elements are integers, which are all held as expressions.
  bool AllIntegers() const;
  std::vector<tir::Expr> Integers() const;
};

// The elements of a constant, if it is small: up to 4096 elements.
std::optional<Known> KnownFromTensor(const Tensor& tensor);
// A tensor with the same elements; all must be constant.
absl::StatusOr<Tensor> TensorFromKnown(const Known& known);

// The simpler form of a dimension expression: symbols are at least 0.
tir::Expr SimplifyDim(const tir::Expr& e);

// The results of a node of the default domain with known operands, one entry
// per output; nothing when it is not an operator of shape arithmetic, an
// operand is not known, or the operands are malformed (importing the node
// reports how). `shapes`
// holds the operands' shapes where these are known though the elements are not
// (for Shape and Size); entries may be null.
std::optional<std::vector<Known>> EvaluateKnown(
    const onnx::NodeProto& node, int opset,
    const std::vector<const Known*>& operands,
    const std::vector<const relay::Shape*>& shapes);

// Whether EvaluateKnown knows the operator at all.
bool IsShapeArithmetic(const std::string& op_type);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_KNOWN_H_
