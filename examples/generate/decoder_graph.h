// Graphs of decoders, in ONNX, as exporters write them. Weights are noise.
#ifndef INGOT_EXAMPLES_GENERATE_DECODER_GRAPH_H_
#define INGOT_EXAMPLES_GENERATE_DECODER_GRAPH_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "onnx/onnx.pb.h"

namespace ingot::generate {

using Names = std::vector<std::string>;
using Dims = std::vector<int64_t>;

// Extents of a decoder.
struct DecoderSizes {
  int64_t vocabulary, width, layers, heads, kept_heads, hidden, most_tokens;

  int64_t head() const { return width / heads; }
};

// A graph that is being built. Values are known by their names.
class DecoderGraph {
 public:
  // With the inputs input_ids and attention_mask, and the output logits.
  DecoderGraph(const DecoderSizes& sizes, int opset);

  onnx_frontend::ModelBuilder& builder() { return builder_; }

  // The result of a node; attributes are set through `node`, which is valid
  // until the next one is added.
  std::string Call(const std::string& op, const Names& inputs,
                   const std::string& domain = "");
  onnx::NodeProto* node() { return node_; }

  // Constants.
  std::string Number(float value);
  std::string Integers(const std::vector<int64_t>& values);
  std::string Integer(int64_t value);  // a scalar
  std::string Floats(const Dims& dims, std::vector<float> values);
  std::string Ones(int64_t count);
  // Noise whose sums over `inputs` products keep the size of what they are
  // made of.
  std::string Weights(const Dims& dims, int64_t inputs);

  // x times a matrix, [inputs, outputs], of noise.
  std::string Linear(const std::string& x, int64_t inputs, int64_t outputs);
  // The same by 4 bits a weight, in blocks of 32 that share a scale, as
  // com.microsoft's MatMulNBits takes them.
  std::string LinearInFourBits(const std::string& x, int64_t inputs,
                               int64_t outputs);

  // The cached keys and values of a layer: the name of the input, whose result
  // Present gives.
  std::string Past(int64_t layer, const std::string& which);
  std::string Present(int64_t layer, const std::string& which);
  // Makes this value the output logits.
  void Logits(const std::string& value);

 private:
  std::string Unique(const std::string& stem);
  // A constant, whose bytes may be filled.
  onnx::TensorProto* Raw(const Dims& dims, int type, size_t bytes,
                         std::string* name);
  float Noise();
  void Output(const std::string& name, const Names& dims);

  const DecoderSizes sizes_;
  onnx_frontend::ModelBuilder builder_;
  onnx::NodeProto* node_ = nullptr;
  std::minstd_rand random_{17};
  int next_ = 0;
};

// OpenAI's GPT-2: layer norms, learned places, GELU; ONNX's own operators.
onnx::ModelProto MakeGpt2(const DecoderSizes& sizes);
// Llama: grouped heads, rotated places, gated layers, weights of 4 bits; the
// operators of com.microsoft that exporters for ONNX Runtime use.
onnx::ModelProto MakeLlama(const DecoderSizes& sizes);

}  // namespace ingot::generate

#endif  // INGOT_EXAMPLES_GENERATE_DECODER_GRAPH_H_
