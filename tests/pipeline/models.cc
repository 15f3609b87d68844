#include "tests/pipeline/models.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "google/protobuf/message_lite.h"

namespace ingot {
namespace {

size_t Count(const std::vector<int64_t>& shape) {
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  return count;
}

void Write(const google::protobuf::MessageLite& message,
           const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  if (!message.SerializeToOstream(&file)) abort();
}

void SetType(const std::string& name, const std::vector<int64_t>& shape,
             onnx::ValueInfoProto* info) {
  info->set_name(name);
  onnx::TypeProto::Tensor* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  type->mutable_shape();
  for (const int64_t size : shape) {
    auto* dim = type->mutable_shape()->add_dim();
    if (size < 0) {
      dim->set_dim_param(size == -1 ? "N" : "N" + std::to_string(-size));
    } else {
      dim->set_dim_value(size);
    }
  }
}

void SetTensor(const std::string& name, const std::vector<int64_t>& shape,
               const std::vector<float>& values, onnx::TensorProto* tensor) {
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t size : shape) tensor->add_dims(size);
  tensor->set_raw_data(values.data(), values.size() * sizeof(float));
}

// a[m,k] * b[k,n].
std::vector<float> MatMul(const std::vector<float>& a,
                          const std::vector<float>& b, size_t m, size_t k,
                          size_t n) {
  std::vector<float> c(m * n);
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = static_cast<float>(sum);
    }
  }
  return c;
}

}  // namespace

ModelMaker::ModelMaker(const std::string& name) {
  model_.set_ir_version(8);
  model_.set_producer_name("ingot tests");
  onnx::OperatorSetIdProto* opset = model_.add_opset_import();
  opset->set_domain("");
  opset->set_version(13);
  model_.mutable_graph()->set_name(name);
}

ModelMaker& ModelMaker::Input(const std::string& name,
                              const std::vector<int64_t>& shape) {
  SetType(name, shape, model_.mutable_graph()->add_input());
  return *this;
}

ModelMaker& ModelMaker::Output(const std::string& name,
                               const std::vector<int64_t>& shape) {
  SetType(name, shape, model_.mutable_graph()->add_output());
  return *this;
}

ModelMaker& ModelMaker::Weights(const std::string& name,
                                const std::vector<int64_t>& shape,
                                const std::vector<float>& values) {
  SetTensor(name, shape, values, model_.mutable_graph()->add_initializer());
  return *this;
}

ModelMaker& ModelMaker::RandomWeights(const std::string& name,
                                      const std::vector<int64_t>& shape) {
  return Weights(name, shape, Numbers(name, Count(shape)));
}

onnx::NodeProto& ModelMaker::Node(const std::string& op,
                                  const std::string& name,
                                  const std::vector<std::string>& inputs,
                                  const std::vector<std::string>& outputs) {
  onnx::NodeProto* node = model_.mutable_graph()->add_node();
  node->set_op_type(op);
  node->set_name(name);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return *node;
}

void ModelMaker::Write(const std::string& path) const {
  ingot::Write(model_, path);
}

void AddInts(onnx::NodeProto* node, const std::string& name,
             const std::vector<int64_t>& values) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute->add_ints(value);
}

void WriteMlp(const std::string& path) {
  ModelMaker maker("mlp");
  maker.Input("x", {2, 16}).Output("y", {2, 4});
  maker.RandomWeights("w1", {16, 32}).RandomWeights("b1", {32});
  maker.RandomWeights("w2", {32, 4});
  maker.Node("MatMul", "first", {"x", "w1"}, {"a"});
  maker.Node("Add", "bias", {"a", "b1"}, {"b"});
  maker.Node("Relu", "relu", {"b"}, {"c"});
  maker.Node("MatMul", "second", {"c", "w2"}, {"y"});
  maker.Write(path);
}

void WriteMlpTestData(const std::string& dir) {
  const std::vector<float> x = Numbers("data", 32);
  std::vector<float> a = MatMul(x, Numbers("w1", 16 * 32), 2, 16, 32);
  const std::vector<float> b1 = Numbers("b1", 32);
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::max(0.f, a[i] + b1[i % 32]);
  const std::vector<float> y = MatMul(a, Numbers("w2", 32 * 4), 2, 32, 4);
  const std::string set = dir + "/test_data_set_0";
  std::filesystem::create_directories(set);
  WriteTensorProto(set + "/input_0.pb", "x", {2, 16}, x);
  WriteTensorProto(set + "/output_0.pb", "y", {2, 4}, y);
}

void WriteConvNet(const std::string& path) {
  ModelMaker maker("conv_net");
  maker.Input("image", {1, 3, 16, 16}).Output("scores", {1, 10});
  maker.RandomWeights("kernel", {8, 3, 3, 3}).RandomWeights("bias", {8});
  maker.RandomWeights("dense", {512, 10}).RandomWeights("offset", {10});
  AddInts(&maker.Node("Conv", "conv", {"image", "kernel", "bias"}, {"a"}),
          "pads", {1, 1, 1, 1});
  maker.Node("Relu", "relu", {"a"}, {"b"});
  onnx::NodeProto& pool = maker.Node("MaxPool", "pool", {"b"}, {"c"});
  AddInts(&pool, "kernel_shape", {2, 2});
  AddInts(&pool, "strides", {2, 2});
  maker.Node("Flatten", "flatten", {"c"}, {"d"});
  maker.Node("Gemm", "gemm", {"d", "dense", "offset"}, {"scores"});
  maker.Write(path);
}

void WriteSymbolic(const std::string& path) {
  ModelMaker maker("symbolic");
  maker.Input("x", {-1, 4}).Output("y", {-1, 4});
  maker.Node("Relu", "relu", {"x"}, {"y"});
  maker.Write(path);
}

void WriteTensorProto(const std::string& path, const std::string& name,
                      const std::vector<int64_t>& shape,
                      const std::vector<float>& values) {
  onnx::TensorProto tensor;
  SetTensor(name, shape, values, &tensor);
  Write(tensor, path);
}

std::vector<float> Numbers(const std::string& seed, size_t count) {
  uint32_t state = 12345;
  for (const char c : seed) state = state * 31 + static_cast<uint8_t>(c);
  std::vector<float> numbers(count);
  for (float& number : numbers) {
    state = state * 1664525 + 1013904223;
    number = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1;
  }
  return numbers;
}

}  // namespace ingot
