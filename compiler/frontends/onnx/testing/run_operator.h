// One operator by its definition, for tests: a model of one node is imported
// and interpreted.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_TESTING_RUN_OPERATOR_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_TESTING_RUN_OPERATOR_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "artifact/blob.h"
#include "onnx/onnx.pb.h"
#include "runtime/tensor.h"

namespace ingot::onnx_frontend {

template <typename T>
Tensor MakeTestTensor(DataType dtype, const std::vector<int64_t>& shape,
                      const std::vector<T>& values) {
  Tensor tensor = *Tensor::Empty(dtype, shape);
  T* out = tensor.mutable_data<T>();
  for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];
  return tensor;
}

inline Tensor Floats(const std::vector<int64_t>& shape,
                     const std::vector<float>& values) {
  return MakeTestTensor<float>(DataType::Float(32), shape, values);
}
inline Tensor Longs(const std::vector<int64_t>& shape,
                    const std::vector<int64_t>& values) {
  return MakeTestTensor<int64_t>(DataType::Int(64), shape, values);
}
inline Tensor Bytes(const std::vector<int64_t>& shape,
                    const std::vector<uint8_t>& values) {
  return MakeTestTensor<uint8_t>(DataType::UInt(8), shape, values);
}
inline Tensor SignedBytes(const std::vector<int64_t>& shape,
                          const std::vector<int8_t>& values) {
  return MakeTestTensor<int8_t>(DataType::Int(8), shape, values);
}

// Small numbers of both signs, the same for a seed.
Tensor RandomFloats(const std::vector<int64_t>& shape, unsigned seed);

// An operand: undefined for one that is left out; `constant`: an initialiser
// of the model instead of an input.
struct Operand {
  Operand(Tensor t, bool is_constant = false)  // NOLINT: tensors are operands
      : tensor(std::move(t)), constant(is_constant) {}
  Tensor tensor;
  bool constant;
  int storage_type =
      0;  // ONNX's type that the tensor carries (element_types.h)
  bool symbolic = false;
};
inline Operand Constant(Tensor t) { return Operand(std::move(t), true); }
// An operand that stores elements of a type that Ingot does not have.
inline Operand OfStorageType(Tensor t, int type, bool constant = false) {
  Operand operand(std::move(t), constant);
  operand.storage_type = type;
  return operand;
}
// An input all of whose dimensions are symbols.
inline Operand Symbolic(Tensor t) {
  Operand operand(std::move(t));
  operand.symbolic = true;
  return operand;
}
inline Operand LeftOut() { return Operand(Tensor()); }

struct Operator {
  std::string op;
  std::string domain;  // "": ONNX's own
  int opset = 23;      // of the domain
  // Sets the node's attributes, and empties the names of outputs that are not
  // wanted; may be null.
  std::function<void(onnx::NodeProto*)> attributes;
  int outputs = 1;
};

// A model of one node.
struct OperatorModel {
  Blob model;
  std::vector<std::string> input_names, output_names;
  std::vector<Tensor> inputs;
};
OperatorModel ModelOf(const Operator& op, const std::vector<Operand>& operands);

absl::StatusOr<std::vector<Tensor>> RunOperator(
    const Operator& op, const std::vector<Operand>& operands);

// The same; fails the test on an error.
std::vector<Tensor> Outputs(const Operator& op,
                            const std::vector<Operand>& operands);

// The first output's elements; fails the test on an error.
std::vector<float> RunFloats(const Operator& op,
                             const std::vector<Operand>& operands);

// The elements of a tensor of floats.
inline std::vector<float> ValuesOf(const Tensor& t) {
  const auto values = t.values<float>();
  return {values.begin(), values.end()};
}

// Each element within `tolerance` of the expected one.
void ExpectNear(const std::vector<float>& actual,
                const std::vector<float>& expected, float tolerance = 1e-5f);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_TESTING_RUN_OPERATOR_H_
