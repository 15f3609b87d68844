// Writes a small convolutional network whose layers are quantised to bytes, as
// quantisers of ONNX models leave them (QDQ).
//
// Usage: make_quantized_model MODEL.onnx

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "onnx/onnx.pb.h"

namespace {

class Maker {
 public:
  Maker() {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(13);
    graph().set_name("quantized");
  }
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }

  void Value(onnx::ValueInfoProto* info, const std::string& name,
             const std::vector<int64_t>& shape) {
    info->set_name(name);
    auto* type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    for (int64_t n : shape) {
      type->mutable_shape()->add_dim()->set_dim_value(n);
    }
  }

  onnx::NodeProto* Node(const std::string& op,
                        const std::vector<std::string>& inputs,
                        const std::string& output) {
    onnx::NodeProto* node = graph().add_node();
    node->set_op_type(op);
    node->set_name(output);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
    return node;
  }

  // The value as quantising to bytes and back leaves it; its name.
  std::string Quantized(const std::string& value, float scale) {
    Scalar(value + "_scale", scale);
    onnx::TensorProto* zero = graph().add_initializer();
    zero->set_name(value + "_zero");
    zero->set_data_type(onnx::TensorProto::UINT8);
    zero->add_int32_data(128);
    const std::vector<std::string> parameters = {value + "_scale",
                                                 value + "_zero"};
    Node("QuantizeLinear", {value, parameters[0], parameters[1]}, value + "_q");
    Node("DequantizeLinear", {value + "_q", parameters[0], parameters[1]},
         value + "_dq");
    return value + "_dq";
  }

  // Weights of bytes; the name of what they stand for.
  std::string Weights(const std::string& name,
                      const std::vector<int64_t>& shape, float scale) {
    onnx::TensorProto* tensor = graph().add_initializer();
    tensor->set_name(name + "_q");
    tensor->set_data_type(onnx::TensorProto::INT8);
    int64_t count = 1;
    for (int64_t n : shape) {
      tensor->add_dims(n);
      count *= n;
    }
    for (int64_t i = 0; i < count; ++i) {
      tensor->add_int32_data(static_cast<int32_t>(numbers_() % 255) - 127);
    }
    Scalar(name + "_scale", scale);
    onnx::TensorProto* zero = graph().add_initializer();
    zero->set_name(name + "_zero");
    zero->set_data_type(onnx::TensorProto::INT8);
    zero->add_int32_data(0);
    Node("DequantizeLinear", {name + "_q", name + "_scale", name + "_zero"},
         name);
    return name;
  }

  static void Ints(onnx::NodeProto* node, const std::string& name,
                   const std::vector<int64_t>& values) {
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INTS);
    for (int64_t value : values) attribute->add_ints(value);
  }

  bool Write(const char* path) {
    std::ofstream file(path, std::ios::binary);
    return model_.SerializeToOstream(&file) && file.flush().good();
  }

 private:
  void Scalar(const std::string& name, float value) {
    onnx::TensorProto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    tensor->add_float_data(value);
  }

  onnx::ModelProto model_;
  std::mt19937 numbers_{7};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: make_quantized_model MODEL.onnx\n");
    return 2;
  }
  Maker maker;
  maker.Value(maker.graph().add_input(), "image", {1, 3, 16, 16});
  maker.Value(maker.graph().add_output(), "scores", {1, 10});
  const std::string image = maker.Quantized("image", 1.0f / 128);
  onnx::NodeProto* conv = maker.Node(
      "Conv", {image, maker.Weights("kernel", {8, 3, 3, 3}, 0.01f)}, "conv");
  Maker::Ints(conv, "pads", {1, 1, 1, 1});
  Maker::Ints(conv, "strides", {2, 2});
  maker.Node("Relu", {maker.Quantized("conv", 0.05f)}, "relu");
  onnx::NodeProto* deeper =
      maker.Node("Conv",
                 {maker.Quantized("relu", 0.03f),
                  maker.Weights("deeper_kernel", {16, 8, 3, 3}, 0.005f)},
                 "deeper");
  Maker::Ints(deeper, "strides", {2, 2});
  maker.Node("Relu", {maker.Quantized("deeper", 0.1f)}, "deeper_relu");
  maker.Node("Flatten", {maker.Quantized("deeper_relu", 0.05f)}, "flat");
  maker.Node("MatMul", {"flat", maker.Weights("matrix", {144, 10}, 0.01f)},
             "product");
  const std::string product = maker.Quantized("product", 0.2f);
  maker.Node("Identity", {product}, "scores");
  return maker.Write(argv[1]) ? 0 : 1;
}
