// Writes models of the kinds that microcontrollers run, with random weights: as
// exporters and quantisers of ONNX models leave them (QDQ).
//
// Usage: make_model keyword|keyword_int8|person_int8|layers_int8 MODEL.onnx

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "onnx/onnx.pb.h"

namespace {

using Dims = std::vector<int64_t>;

class Maker {
 public:
  explicit Maker(bool quantized) : quantized_(quantized) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(13);
    graph().set_name("tiny");
  }
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }

  // The model's input, as the value that layers read: bytes stand for [-1, 1).
  std::string Input(const std::string& name, const Dims& shape) {
    Describe(graph().add_input(), name, shape);
    return quantized_ ? Dequantize(name, name, 1.0f / 128, 0) : name;
  }

  // The model's output: bytes again where the layers are quantised.
  void Output(const std::string& value, const Dims& shape, float scale,
              int zero) {
    const std::string result =
        quantized_ ? Quantize(value, "result", scale, zero) : value;
    Node("Identity", {result}, "scores");
    Describe(graph().add_output(), "scores", shape);
  }

  struct Convolution {
    int64_t channels, filters, height, width, stride;
    bool depthwise;
    Dims pads;
  };

  // A convolution with a bias and Relu.
  std::string Layer(const std::string& x, const std::string& name,
                    const Convolution& c) {
    const int64_t inputs = c.depthwise ? 1 : c.channels;
    const std::string w =
        Weights(name + "_w", {c.filters, inputs, c.height, c.width},
                inputs * c.height * c.width, 0);
    onnx::NodeProto* conv = Node("Conv", {x, w, Bias(name, c.filters)}, name);
    Ints(conv, "strides", {c.stride, c.stride});
    Ints(conv, "pads", c.pads);
    if (c.depthwise) Int(conv, "group", c.channels);
    Node("Relu", {name}, name + "_relu");
    return Quantized(name + "_relu", 4.0f / 255, -128);
  }

  // A depthwise convolution and one of points.
  std::string Separable(const std::string& x, const std::string& name,
                        int64_t channels, int64_t filters, int64_t stride) {
    const Dims pads = stride == 1 ? Dims{1, 1, 1, 1} : Dims{0, 0, 1, 1};
    const std::string y = Layer(x, name + "_depth",
                                {channels, channels, 3, 3, stride, true, pads});
    return Layer(y, name + "_point",
                 {channels, filters, 1, 1, 1, false, {0, 0, 0, 0}});
  }

  // The mean of each channel, and a layer that is fully connected.
  std::string Head(const std::string& x, int64_t channels, int64_t classes) {
    Node("GlobalAveragePool", {x}, "mean");
    Node("Flatten", {Quantized("mean", 4.0f / 255, -128)}, "features");
    return Dense("features", "product", channels, classes);
  }

  std::string Dense(const std::string& x, const std::string& name,
                    int64_t inputs, int64_t outputs) {
    const std::string w = Weights(name + "_w", {outputs, inputs}, inputs, 0);
    Int(Node("Gemm", {x, w, Bias(name, outputs)}, name), "transB", 1);
    return name;
  }

  // A pool of windows side by side.
  void Pool(const std::string& op, const std::string& x,
            const std::string& name, int64_t size) {
    onnx::NodeProto* pool = Node(op, {x}, name);
    Ints(pool, "kernel_shape", {size, size});
    Ints(pool, "strides", {size, size});
  }

  // The value as quantising to bytes and back leaves it.
  std::string Quantized(const std::string& value, float scale, int zero) {
    if (!quantized_) return value;
    return Dequantize(Quantize(value, value + "_q", scale, zero), value, scale,
                      zero);
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

  bool Write(const char* path) {
    std::ofstream file(path, std::ios::binary);
    return model_.SerializeToOstream(&file) && file.flush().good();
  }

 private:
  void Describe(onnx::ValueInfoProto* info, const std::string& name,
                const Dims& shape) {
    info->set_name(name);
    auto* type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(quantized_ ? onnx::TensorProto::INT8
                                   : onnx::TensorProto::FLOAT);
    for (int64_t n : shape) {
      type->mutable_shape()->add_dim()->set_dim_value(n);
    }
  }

  std::string Quantize(const std::string& value, const std::string& bytes,
                       float scale, int zero) {
    Node("QuantizeLinear",
         {value, Floats(bytes + "_scale", {}, {scale}),
          Bytes(bytes + "_zero", {}, {zero})},
         bytes);
    return bytes;
  }
  std::string Dequantize(const std::string& bytes, const std::string& name,
                         float scale, int zero) {
    Node("DequantizeLinear",
         {bytes, Floats(name + "_dq_scale", {}, {scale}),
          Bytes(name + "_dq_zero", {}, {zero})},
         name + "_dq");
    return name + "_dq";
  }

  // Numbers that keep a signal's size from layer to layer; of bytes with a
  // scale for each of those outputs that dimension `axis` counts.
  std::string Weights(const std::string& name, const Dims& shape,
                      int64_t inputs, int axis) {
    int64_t count = 1;
    for (int64_t n : shape) count *= n;
    const double limit = std::sqrt(6.0 / static_cast<double>(inputs));
    if (!quantized_) {
      std::vector<float> values;
      for (int64_t i = 0; i < count; ++i) {
        values.push_back(static_cast<float>(limit * (Random() / 128.0)));
      }
      return Floats(name, shape, values);
    }
    std::vector<int> bytes;
    std::vector<float> scales;
    for (int64_t i = 0; i < count; ++i) bytes.push_back(Random());
    for (int64_t i = 0; i < shape[axis]; ++i) {
      scales.push_back(
          static_cast<float>(limit / 127 * (1 + Random() / 1000.0)));
    }
    onnx::NodeProto* node =
        Node("DequantizeLinear",
             {Bytes(name + "_q", shape, bytes),
              Floats(name + "_scale", {shape[axis]}, scales),
              Bytes(name + "_zero", {shape[axis]},
                    std::vector<int>(shape[axis], 0))},
             name);
    Int(node, "axis", axis);
    return name;
  }

  std::string Bias(const std::string& name, int64_t count) {
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(static_cast<float>(Random()) / 512);
    }
    return Floats(name + "_b", {count}, values);
  }

  // In [-127, 127].
  int Random() { return static_cast<int>(numbers_() % 255) - 127; }

  onnx::TensorProto* Add(const std::string& name, const Dims& shape, int type) {
    onnx::TensorProto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(type);
    for (int64_t n : shape) tensor->add_dims(n);
    return tensor;
  }
  std::string Floats(const std::string& name, const Dims& shape,
                     const std::vector<float>& values) {
    onnx::TensorProto* tensor = Add(name, shape, onnx::TensorProto::FLOAT);
    for (float value : values) tensor->add_float_data(value);
    return name;
  }
  std::string Bytes(const std::string& name, const Dims& shape,
                    const std::vector<int>& values) {
    onnx::TensorProto* tensor = Add(name, shape, onnx::TensorProto::INT8);
    for (int value : values) tensor->add_int32_data(value);
    return name;
  }
  static void Ints(onnx::NodeProto* node, const std::string& name,
                   const Dims& values) {
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INTS);
    for (int64_t value : values) attribute->add_ints(value);
  }
  static void Int(onnx::NodeProto* node, const std::string& name,
                  int64_t value) {
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  }

  const bool quantized_;
  onnx::ModelProto model_;
  std::mt19937 numbers_{7};
};

// DS-CNN, the keyword spotter of MLPerf Tiny: a second of sound as 49 x 10
// features, twelve words.
void Keyword(Maker* m) {
  std::string x = m->Input("sound", {1, 1, 49, 10});
  x = m->Layer(x, "first", {1, 64, 10, 4, 2, false, {4, 1, 5, 1}});
  for (int i = 0; i < 4; ++i) {
    x = m->Separable(x, "block" + std::to_string(i), 64, 64, 1);
  }
  m->Output(m->Head(x, 64, 12), {1, 12}, 0.05f, 0);
}

// MobileNet v1 with a quarter of the channels, the person detector of MLPerf
// Tiny (visual wake words): 96 x 96 pixels.
void Person(Maker* m) {
  std::string x = m->Input("image", {1, 3, 96, 96});
  x = m->Layer(x, "first", {3, 8, 3, 3, 2, false, {0, 0, 1, 1}});
  const struct {
    int64_t filters, stride;
  } blocks[] = {{16, 1},  {32, 2},  {32, 1},  {64, 2},  {64, 1},
                {128, 2}, {128, 1}, {128, 1}, {128, 1}, {128, 1},
                {128, 1}, {256, 2}, {256, 1}};
  int64_t channels = 8;
  int number = 0;
  for (const auto& block : blocks) {
    x = m->Separable(x, "block" + std::to_string(number++), channels,
                     block.filters, block.stride);
    channels = block.filters;
  }
  m->Output(m->Head(x, 256, 2), {1, 2}, 0.05f, 0);
}

// One of each layer that a library for quantised networks has.
void Layers(Maker* m) {
  std::string x = m->Input("image", {1, 3, 16, 16});
  x = m->Layer(x, "first", {3, 8, 3, 3, 1, false, {1, 1, 1, 1}});
  m->Pool("MaxPool", x, "pool", 2);
  x = m->Quantized("pool", 4.0f / 255, -128);
  const std::string y = m->Separable(x, "block", 8, 8, 1);
  m->Node("Add", {x, y}, "sum");
  x = m->Quantized("sum", 8.0f / 255, -128);
  m->Pool("AveragePool", x, "average", 2);
  m->Node("Flatten", {m->Quantized("average", 8.0f / 255, -128)}, "features");
  x = m->Quantized(m->Dense("features", "product", 128, 10), 0.1f, 0);
  m->Node("Softmax", {x}, "softmax");
  m->Output("softmax", {1, 10}, 1.0f / 256, -128);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr,
            "usage: make_model keyword|keyword_int8|person_int8|layers_int8 "
            "MODEL.onnx\n");
    return 2;
  }
  const std::string what = argv[1];
  Maker maker(what != "keyword");
  if (what == "keyword" || what == "keyword_int8") {
    Keyword(&maker);
  } else if (what == "person_int8") {
    Person(&maker);
  } else if (what == "layers_int8") {
    Layers(&maker);
  } else {
    fprintf(stderr, "there is no model '%s'\n", what.c_str());
    return 2;
  }
  return maker.Write(argv[2]) ? 0 : 1;
}
