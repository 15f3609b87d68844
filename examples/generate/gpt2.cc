#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "examples/generate/decoder_graph.h"

namespace ingot::generate {
namespace {

using onnx_frontend::SetFloat;
using onnx_frontend::SetInt;
using onnx_frontend::SetInts;

class Gpt2 {
 public:
  explicit Gpt2(const DecoderSizes& sizes) : g_(sizes, 17), n_(sizes) {}

  onnx::ModelProto Make() {
    g_.builder().Input("position_ids", {"batch_size", "sequence_length"},
                       onnx::TensorProto::INT64);
    const std::string words = g_.Weights({n_.vocabulary, n_.width}, 1);
    std::string x = g_.Call("Gather", {words, "input_ids"});
    x = g_.Call(
        "Add", {x, g_.Call("Gather", {g_.Weights({n_.most_tokens, n_.width}, 1),
                                      "position_ids"})});
    for (int64_t layer = 0; layer < n_.layers; ++layer) x = Layer(x, layer);
    // The matrix of the words gives the scores of the next one, too.
    const std::string by_word = g_.Call("Transpose", {words});
    SetInts(g_.node(), "perm", {1, 0});
    const std::string scores = g_.Call("MatMul", {Norm(x), by_word});
    const float size = 1 / std::sqrt(static_cast<float>(n_.width));
    g_.Logits(g_.Call("Mul", {scores, g_.Number(size)}));
    return g_.builder().model();
  }

 private:
  std::string Norm(const std::string& x) {
    const std::string y =
        g_.Call("LayerNormalization",
                {x, g_.Ones(n_.width), g_.Weights({n_.width}, 9)});
    SetInt(g_.node(), "axis", -1);
    SetFloat(g_.node(), "epsilon", 1e-5f);
    return y;
  }

  // [batch, words, width] -> [batch, heads, words, head]
  std::string Split(const std::string& x) {
    const std::string y =
        g_.Call("Reshape", {x, g_.Integers({0, 0, n_.heads, n_.head()})});
    const std::string heads = g_.Call("Transpose", {y});
    SetInts(g_.node(), "perm", {0, 2, 1, 3});
    return heads;
  }

  // Keys or values that were there before, and those of the new words.
  std::string Keep(const std::string& now, int64_t layer,
                   const std::string& which) {
    const std::string past = g_.Past(layer, which);
    const std::string present = g_.Present(layer, which);
    onnx::NodeProto* node = g_.builder().Node("Concat", {past, now}, {present},
                                              absl::StrCat(present, ".concat"));
    SetInt(node, "axis", 2);
    return present;
  }

  std::string Dimension(const std::string& x, int64_t axis) {
    return g_.Call("Gather", {g_.Call("Shape", {x}), g_.Integer(axis)});
  }

  // A mask that is added to scores: words look neither at those after them nor
  // at padding. [batch, 1, words, keys], the same in all layers.
  std::string Mask() {
    if (!mask_.empty()) return mask_;
    const std::string past = Dimension("past_key_values.0.key", 2);
    const std::string total = g_.Call("Add", {past, Dimension("input_ids", 1)});
    const std::string one = g_.Integer(1);
    const std::string words = g_.Call("Range", {past, total, one});
    const std::string keys = g_.Call("Range", {g_.Integer(0), total, one});
    const std::string seen = g_.Call(
        "LessOrEqual", {keys, g_.Call("Unsqueeze", {words, g_.Integers({1})})});
    const std::string causal =
        g_.Call("Where", {seen, g_.Number(0), g_.Number(kLowest)});
    const std::string real = g_.Call("Cast", {"attention_mask"});
    SetInt(g_.node(), "to", onnx::TensorProto::FLOAT);
    const std::string padding = g_.Call(
        "Mul", {g_.Call("Sub", {g_.Number(1), real}), g_.Number(kLowest)});
    mask_ = g_.Call(
        "Max",
        {g_.Call("Add", {causal,
                         g_.Call("Unsqueeze", {padding, g_.Integers({1, 2})})}),
         g_.Number(kLowest)});
    return mask_;
  }

  std::string Attention(const std::string& x, int64_t layer) {
    const std::string all = g_.Linear(x, n_.width, 3 * n_.width);
    std::string part[3];
    for (int64_t i = 0; i < 3; ++i) {
      part[i] = Split(g_.Call(
          "Slice", {all, g_.Integers({i * n_.width}),
                    g_.Integers({(i + 1) * n_.width}), g_.Integers({2})}));
    }
    const std::string keys = Keep(part[1], layer, "key");
    const std::string values = Keep(part[2], layer, "value");
    const std::string turned = g_.Call("Transpose", {keys});
    SetInts(g_.node(), "perm", {0, 1, 3, 2});
    std::string scores = g_.Call("MatMul", {part[0], turned});
    scores = g_.Call(
        "Div", {scores, g_.Number(std::sqrt(static_cast<float>(n_.head())))});
    const std::string weights =
        g_.Call("Softmax", {g_.Call("Add", {scores, Mask()})});
    SetInt(g_.node(), "axis", -1);
    const std::string y =
        g_.Call("Transpose", {g_.Call("MatMul", {weights, values})});
    SetInts(g_.node(), "perm", {0, 2, 1, 3});
    return g_.Linear(g_.Call("Reshape", {y, g_.Integers({0, 0, n_.width})}),
                     n_.width, n_.width);
  }

  // GELU by tanh, written out as exporters do.
  std::string Gelu(const std::string& x) {
    const std::string cube = g_.Call(
        "Mul", {g_.Call("Pow", {x, g_.Number(3)}), g_.Number(0.044715f)});
    const std::string inner = g_.Call(
        "Mul",
        {g_.Call("Add", {x, cube}), g_.Number(std::sqrt(2.0f / 3.14159265f))});
    const std::string one =
        g_.Call("Add", {g_.Call("Tanh", {inner}), g_.Number(1)});
    return g_.Call("Mul", {g_.Call("Mul", {x, g_.Number(0.5f)}), one});
  }

  std::string Layer(std::string x, int64_t layer) {
    x = g_.Call("Add", {x, Attention(Norm(x), layer)});
    const std::string hidden = Gelu(g_.Linear(Norm(x), n_.width, n_.hidden));
    return g_.Call("Add", {x, g_.Linear(hidden, n_.hidden, n_.width)});
  }

  static constexpr float kLowest = std::numeric_limits<float>::lowest();

  DecoderGraph g_;
  const DecoderSizes n_;
  std::string mask_;
};

}  // namespace

onnx::ModelProto MakeGpt2(const DecoderSizes& sizes) {
  return Gpt2(sizes).Make();
}

}  // namespace ingot::generate
