// QAttention, compiled, against ONNX Runtime.
#include <string>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gtest/gtest.h"
#include "onnx/onnx.pb.h"
#include "tests/onnxruntime/expect_same.h"

namespace ingot {
namespace {

using onnx::TensorProto;
using onnx_frontend::Bytes;
using onnx_frontend::Floats;
using onnx_frontend::MakeTestTensor;
using onnx_frontend::ModelBuilder;
using onnx_frontend::RandomFloats;
using onnx_frontend::SetInt;

constexpr int64_t kBatch = 2, kWords = 5, kWidth = 8, kHeads = 2;

std::vector<uint8_t> SomeBytes(int64_t count, int factor) {
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < count; ++i) {
    bytes.push_back(static_cast<uint8_t>(i * factor % 251));
  }
  return bytes;
}

Tensor Ints(const std::vector<int64_t>& shape, const std::vector<int32_t>& v) {
  return MakeTestTensor<int32_t>(DataType::Int(32), shape, v);
}

// `mask`: not defined for none.
void ExpectAsOnnxRuntime(const Tensor& mask, bool causal) {
  ModelBuilder b(17);
  b.Domain("com.microsoft", 1);
  std::vector<std::string> names, operands;
  std::vector<Tensor> inputs;
  const auto give = [&](const std::string& name, const Tensor& tensor,
                        int type) {
    operands.push_back(tensor.defined() ? name : "");
    if (!tensor.defined()) return;
    std::vector<std::string> dims;
    for (int64_t d : tensor.shape()) dims.push_back(std::to_string(d));
    b.Input(name, dims, type);
    names.push_back(name);
    inputs.push_back(tensor);
  };
  give("x",
       Bytes({kBatch, kWords, kWidth}, SomeBytes(kBatch * kWords * kWidth, 37)),
       TensorProto::UINT8);
  give("w", Bytes({kWidth, 3 * kWidth}, SomeBytes(kWidth * 3 * kWidth, 101)),
       TensorProto::UINT8);
  give("bias", RandomFloats({3 * kWidth}, 1), TensorProto::FLOAT);
  give("x_scale", Floats({1}, {0.02f}), TensorProto::FLOAT);
  give("w_scale", Floats({1}, {0.01f}), TensorProto::FLOAT);
  give("mask", mask, TensorProto::INT32);
  give("x_zero", Bytes({1}, {120}), TensorProto::UINT8);
  give("w_zero", Bytes({1}, {131}), TensorProto::UINT8);
  onnx::NodeProto* node = b.Node("QAttention", operands, {"y"}, "node");
  node->set_domain("com.microsoft");
  SetInt(node, "num_heads", kHeads);
  if (causal) SetInt(node, "unidirectional", 1);
  b.Output("y");
  b.graph()
      .mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(TensorProto::FLOAT);
  const std::vector<Tensor> expected =
      onnxruntime::OutputsOf(b.Build(), names, inputs, {"y"});
  ASSERT_EQ(expected.size(), 1u);
  onnxruntime::ExpectCompiled(b.Build(), inputs, expected, {});
}

TEST(QuantizedAttentionTest, AsOnnxRuntime) {
  ExpectAsOnnxRuntime(Tensor(), /*causal=*/false);
  ExpectAsOnnxRuntime(Tensor(), /*causal=*/true);
  // The mask says how many keys of each sequence count, and which ones.
  ExpectAsOnnxRuntime(Ints({kBatch}, {5, 3}), /*causal=*/false);
  ExpectAsOnnxRuntime(Ints({kBatch, kWords}, {1, 1, 1, 1, 1, 1, 0, 1, 1, 0}),
                      /*causal=*/false);
}

}  // namespace
}  // namespace ingot
