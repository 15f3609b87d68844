#include "examples/generate/decoder_graph.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace ingot::generate {
namespace {

using onnx::TensorProto;
using onnx_frontend::SetInt;

constexpr int64_t kBlock = 32;  // weights that share a scale

}  // namespace

DecoderGraph::DecoderGraph(const DecoderSizes& sizes, int opset)
    : sizes_(sizes), builder_(opset) {
  builder_.graph().set_name("decoder");
  builder_.Input("input_ids", {"batch_size", "sequence_length"},
                 TensorProto::INT64);
  builder_.Input("attention_mask", {"batch_size", "total_sequence_length"},
                 TensorProto::INT64);
  Output("logits",
         {"batch_size", "sequence_length", absl::StrCat(sizes.vocabulary)});
}

std::string DecoderGraph::Unique(const std::string& stem) {
  return absl::StrCat(stem, "_", next_++);
}

std::string DecoderGraph::Call(const std::string& op, const Names& inputs,
                               const std::string& domain) {
  const std::string name = Unique(op);
  node_ = builder_.Node(op, inputs, {name}, name);
  node_->set_domain(domain);
  return name;
}

onnx::TensorProto* DecoderGraph::Raw(const Dims& dims, int type, size_t bytes,
                                     std::string* name) {
  *name = Unique("constant");
  TensorProto* tensor = builder_.graph().add_initializer();
  tensor->set_name(*name);
  tensor->set_data_type(type);
  for (int64_t d : dims) tensor->add_dims(d);
  tensor->mutable_raw_data()->resize(bytes);
  return tensor;
}

std::string DecoderGraph::Floats(const Dims& dims, std::vector<float> values) {
  std::string name;
  const size_t bytes = values.size() * sizeof(float);
  TensorProto* tensor = Raw(dims, TensorProto::FLOAT, bytes, &name);
  std::memcpy(tensor->mutable_raw_data()->data(), values.data(), bytes);
  return name;
}

std::string DecoderGraph::Number(float value) { return Floats({}, {value}); }

std::string DecoderGraph::Ones(int64_t count) {
  return Floats({count}, std::vector<float>(count, 1.0f));
}

std::string DecoderGraph::Integers(const std::vector<int64_t>& values) {
  const std::string name = Unique("constant");
  builder_.Ints(name, values);
  return name;
}

std::string DecoderGraph::Integer(int64_t value) {
  const std::string name = Unique("constant");
  builder_.Ints(name, {value})->clear_dims();
  return name;
}

float DecoderGraph::Noise() {
  return static_cast<float>(random_()) * (2.0f / 2147483647.0f) - 1.0f;
}

std::string DecoderGraph::Weights(const Dims& dims, int64_t inputs) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  const float scale = std::sqrt(3.0f / static_cast<float>(inputs));
  std::vector<float> values(count);
  for (float& v : values) v = scale * Noise();
  return Floats(dims, std::move(values));
}

std::string DecoderGraph::Linear(const std::string& x, int64_t inputs,
                                 int64_t outputs) {
  const std::string product =
      Call("MatMul", {x, Weights({inputs, outputs}, inputs)});
  return Call("Add", {product, Weights({outputs}, inputs)});
}

std::string DecoderGraph::LinearInFourBits(const std::string& x, int64_t inputs,
                                           int64_t outputs) {
  const int64_t blocks = (inputs + kBlock - 1) / kBlock;
  std::string weights;
  const auto bytes = static_cast<size_t>(outputs * blocks * kBlock / 2);
  TensorProto* tensor =
      Raw({outputs, blocks, kBlock / 2}, TensorProto::UINT8, bytes, &weights);
  for (char& c : *tensor->mutable_raw_data()) {
    c = static_cast<char>(random_() >> 9);
  }
  // Numbers from -8 to 7 have a mean square of 21.5.
  const float size = 1 / std::sqrt(21.5f * static_cast<float>(inputs));
  std::vector<float> scales(outputs * blocks);
  for (float& s : scales) s = size * (1 + 0.25f * Noise());
  const std::string y =
      Call("MatMulNBits",
           {x, weights, Floats({outputs * blocks}, std::move(scales))},
           "com.microsoft");
  SetInt(node_, "N", outputs);
  SetInt(node_, "K", inputs);
  SetInt(node_, "bits", 4);
  SetInt(node_, "block_size", kBlock);
  // Data may be rounded to bytes, as the tools that write such models for
  // processors say.
  SetInt(node_, "accuracy_level", 4);
  return y;
}

std::string DecoderGraph::Past(int64_t layer, const std::string& which) {
  const std::string name = absl::StrCat("past_key_values.", layer, ".", which);
  builder_.Input(name, {"batch_size", absl::StrCat(sizes_.kept_heads),
                        "past_sequence_length", absl::StrCat(sizes_.head())});
  return name;
}

std::string DecoderGraph::Present(int64_t layer, const std::string& which) {
  const std::string name = absl::StrCat("present.", layer, ".", which);
  Output(name, {"batch_size", absl::StrCat(sizes_.kept_heads),
                "total_sequence_length", absl::StrCat(sizes_.head())});
  return name;
}

void DecoderGraph::Logits(const std::string& value) {
  builder_.Node("Identity", {value}, {"logits"}, "logits");
}

void DecoderGraph::Output(const std::string& name, const Names& dims) {
  onnx::ValueInfoProto* info = builder_.graph().add_output();
  info->set_name(name);
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(TensorProto::FLOAT);
  for (const std::string& d : dims) {
    auto* dim = type->mutable_shape()->add_dim();
    int64_t size;
    if (absl::SimpleAtoi(d, &size)) {
      dim->set_dim_value(size);
    } else {
      dim->set_dim_param(d);
    }
  }
}

}  // namespace ingot::generate
