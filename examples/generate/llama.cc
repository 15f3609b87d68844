#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "examples/generate/decoder_graph.h"

namespace ingot::generate {
namespace {

using onnx_frontend::SetFloat;
using onnx_frontend::SetInt;

constexpr char kMicrosoft[] = "com.microsoft";

class Llama {
 public:
  explicit Llama(const DecoderSizes& sizes) : g_(sizes, 21), n_(sizes) {
    g_.builder().Domain(kMicrosoft);
  }

  onnx::ModelProto Make() {
    Prepare();
    const std::string words = g_.Weights({n_.vocabulary, n_.width}, 1);
    std::string x = g_.Call("Gather", {words, "input_ids"});
    for (int64_t layer = 0; layer < n_.layers; ++layer) x = Layer(x, layer);
    g_.Logits(g_.LinearInFourBits(Norm(x), n_.width, n_.vocabulary));
    return g_.builder().model();
  }

 private:
  // What all layers share: lengths, and the angles of places.
  void Prepare() {
    const std::string counts =
        g_.Call("ReduceSum", {"attention_mask", g_.Integers({1})});
    SetInt(g_.node(), "keepdims", 0);
    last_ = g_.Call("Cast", {g_.Call("Sub", {counts, g_.Integer(1)})});
    SetInt(g_.node(), "to", onnx::TensorProto::INT32);
    const std::string total = g_.Call(
        "Gather", {g_.Call("Shape", {"attention_mask"}), g_.Integer(1)});
    total_ = g_.Call("Cast", {total});
    SetInt(g_.node(), "to", onnx::TensorProto::INT32);
    const int64_t half = n_.head() / 2;
    std::vector<float> cosine, sine;
    for (int64_t place = 0; place < n_.most_tokens; ++place) {
      for (int64_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(place) *
                             std::pow(10000.0, -static_cast<double>(i) / half);
        cosine.push_back(static_cast<float>(std::cos(angle)));
        sine.push_back(static_cast<float>(std::sin(angle)));
      }
    }
    cosine_ = g_.Floats({n_.most_tokens, half}, std::move(cosine));
    sine_ = g_.Floats({n_.most_tokens, half}, std::move(sine));
  }

  std::string Norm(const std::string& x) {
    const std::string y =
        g_.Call("SimplifiedLayerNormalization", {x, g_.Ones(n_.width)});
    SetInt(g_.node(), "axis", -1);
    SetFloat(g_.node(), "epsilon", 1e-5f);
    return y;
  }

  std::string Attention(const std::string& x, int64_t layer) {
    const int64_t kept = n_.kept_heads * n_.head();
    const std::string q = g_.LinearInFourBits(x, n_.width, n_.width);
    const std::string k = g_.LinearInFourBits(x, n_.width, kept);
    const std::string v = g_.LinearInFourBits(x, n_.width, kept);
    const std::string past_key = g_.Past(layer, "key");
    const std::string past_value = g_.Past(layer, "value");
    const Names inputs = {q,     k,      v,       past_key, past_value,
                          last_, total_, cosine_, sine_};
    const std::string y = absl::StrCat("attention_", layer);
    onnx::NodeProto* node = g_.builder().Node(
        "GroupQueryAttention", inputs,
        {y, g_.Present(layer, "key"), g_.Present(layer, "value")}, y);
    node->set_domain(kMicrosoft);
    SetInt(node, "num_heads", n_.heads);
    SetInt(node, "kv_num_heads", n_.kept_heads);
    SetInt(node, "do_rotary", 1);
    return g_.LinearInFourBits(y, n_.width, n_.width);
  }

  std::string Layer(std::string x, int64_t layer) {
    x = g_.Call("Add", {x, Attention(Norm(x), layer)});
    const std::string y = Norm(x);
    const std::string gate = g_.LinearInFourBits(y, n_.width, n_.hidden);
    const std::string up = g_.LinearInFourBits(y, n_.width, n_.hidden);
    const std::string swish =
        g_.Call("Mul", {gate, g_.Call("Sigmoid", {gate})});
    return g_.Call("Add", {x, g_.LinearInFourBits(g_.Call("Mul", {swish, up}),
                                                  n_.hidden, n_.width)});
  }

  DecoderGraph g_;
  const DecoderSizes n_;
  std::string last_, total_, cosine_, sine_;
};

}  // namespace

onnx::ModelProto MakeLlama(const DecoderSizes& sizes) {
  return Llama(sizes).Make();
}

}  // namespace ingot::generate
