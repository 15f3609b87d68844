#include "compiler/frontends/onnx/testing/run_operator.h"

#include <cmath>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/model/storage_type.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/verifier.h"
#include "gtest/gtest.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

int OnnxType(DataType t) {
  using Proto = onnx::TensorProto;
  if (t.is_bool()) return Proto::BOOL;
  if (t.is_float()) {
    return t.bits == 16   ? Proto::FLOAT16
           : t.bits == 32 ? Proto::FLOAT
                          : Proto::DOUBLE;
  }
  switch (t.bits) {
    case 8:
      return t.is_int() ? Proto::INT8 : Proto::UINT8;
    case 16:
      return t.is_int() ? Proto::INT16 : Proto::UINT16;
    case 32:
      return t.is_int() ? Proto::INT32 : Proto::UINT32;
    default:
      return t.is_int() ? Proto::INT64 : Proto::UINT64;
  }
}

}  // namespace

Tensor RandomFloats(const std::vector<int64_t>& shape, unsigned seed) {
  Tensor tensor = *Tensor::Empty(DataType::Float(32), shape);
  std::mt19937 random(seed);
  float* out = tensor.mutable_data<float>();
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    out[i] = static_cast<float>(random() % 4001) / 1000 - 2;
  }
  return tensor;
}

OperatorModel ModelOf(const Operator& op,
                      const std::vector<Operand>& operands) {
  ModelBuilder b(op.domain.empty() ? op.opset : 21);
  if (!op.domain.empty()) b.Domain(op.domain, op.opset);
  OperatorModel made;
  std::vector<std::string> names, outputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor& t = operands[i].tensor;
    names.push_back(t.defined() ? absl::StrCat("in", i) : "");
    if (!t.defined()) continue;
    const int type = operands[i].storage_type != 0 ? operands[i].storage_type
                                                   : OnnxType(t.dtype());
    if (operands[i].constant) {
      auto* proto = b.graph().add_initializer();
      proto->set_name(names.back());
      proto->set_data_type(type);
      for (int64_t d : t.shape()) proto->add_dims(d);
      proto->set_raw_data(t.raw_data(), t.bytes());
      continue;
    }
    std::vector<std::string> dims;
    for (int64_t d : t.shape()) {
      dims.push_back(operands[i].symbolic
                         ? absl::StrCat(names.back(), "_", dims.size(), "_dim")
                         : absl::StrCat(d));
    }
    if (type == kTextType) dims.pop_back();
    b.Input(names.back(), dims, type);
    made.input_names.push_back(names.back());
    made.inputs.push_back(t);
  }
  for (int i = 0; i < op.outputs; ++i) {
    outputs.push_back(absl::StrCat("out", i));
  }
  onnx::NodeProto* node = b.Node(op.op, names, outputs);
  node->set_domain(op.domain);
  if (op.attributes != nullptr) op.attributes(node);
  for (const std::string& name : node->output()) {
    if (name.empty()) continue;
    b.Output(name);
    made.output_names.push_back(name);
  }
  made.model = b.Build();
  return made;
}

absl::StatusOr<std::vector<Tensor>> RunOperator(
    const Operator& op, const std::vector<Operand>& operands) {
  const OperatorModel made = ModelOf(op, operands);
  INGOT_ASSIGN_OR_RETURN(relay::Module module, ImportOnnx(made.model));
  INGOT_RETURN_IF_ERROR(relay::Verify(module));
  return relay::EvaluateFunction(module, *module.main(), made.inputs);
}

std::vector<Tensor> Outputs(const Operator& op,
                            const std::vector<Operand>& operands) {
  absl::StatusOr<std::vector<Tensor>> out = RunOperator(op, operands);
  if (out.ok()) return *std::move(out);
  ADD_FAILURE() << op.op << ": " << out.status();
  return std::vector<Tensor>(op.outputs, Floats({1}, {0}));
}

std::vector<float> RunFloats(const Operator& op,
                             const std::vector<Operand>& operands) {
  absl::StatusOr<std::vector<Tensor>> outputs = RunOperator(op, operands);
  if (!outputs.ok()) {
    ADD_FAILURE() << op.op << ": " << outputs.status();
    return {};
  }
  if ((*outputs)[0].dtype() != DataType::Float(32)) {
    ADD_FAILURE() << op.op << " gives " << (*outputs)[0].TypeString();
    return {};
  }
  auto values = (*outputs)[0].values<float>();
  return {values.begin(), values.end()};
}

void ExpectNear(const std::vector<float>& actual,
                const std::vector<float>& expected, float tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const float room = tolerance * std::max(1.0f, std::fabs(expected[i]));
    EXPECT_NEAR(actual[i], expected[i], room) << "element " << i;
  }
}

}  // namespace ingot::onnx_frontend
