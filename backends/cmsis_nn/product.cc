#include "backends/cmsis_nn/product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends/cmsis_nn/values.h"
#include "base/status_macros.h"
#include "runtime/tensor.h"

namespace ingot::cmsis_nn {
namespace {

using codegen::KnownShape;
using relay::Node;
using relay::Value;

// The weights, less their zero point, in the model's order.
struct Weights {
  std::vector<double> values;
  std::vector<double> scales;  // of each output channel
};

class ProductReader {
 public:
  ProductReader(const codegen::RegionCall& call, const Node& product,
                Layer* layer)
      : call_(call), product_(product), layer_(*layer) {}

  absl::Status Read() {
    INGOT_ASSIGN_OR_RETURN(x_, KnownShape(product_.inputs[0].type()));
    INGOT_ASSIGN_OR_RETURN(w_, KnownShape(product_.inputs[1].type()));
    INGOT_ASSIGN_OR_RETURN(y_, KnownShape(product_.outputs[0]));
    for (const Dims* dims : {&x_, &w_, &y_}) {
      if (std::count(dims->begin(), dims->end(), 0) > 0) {
        return No("an empty tensor");
      }
    }
    INGOT_ASSIGN_OR_RETURN(const Dims result,
                           KnownShape(call_.nodes.back()->outputs[0]));
    if (result != y_) return No("a bias or scale that adds a dimension");
    is_conv_ = product_.Is("conv2d");
    if (!is_conv_ && w_.size() != 2) return No("weights that are no matrix");
    channels_ = w_[product_.Is("matmul") ? 1 : 0];
    INGOT_RETURN_IF_ERROR(is_conv_ ? ReadConvolution() : ReadMatrix());
    const bool is_integer = call_.Find({"dequantize"}) == nullptr;
    INGOT_RETURN_IF_ERROR(is_integer ? ReadIntegers() : ReadDequantized());
    INGOT_RETURN_IF_ERROR(CheckFactors(layer_));
    // The library's fully connected layers have one scale.
    if (layer_.function == Function::kFullyConnected &&
        std::count(layer_.factors.begin(), layer_.factors.end(),
                   layer_.factors[0]) != channels_) {
      layer_.function = Function::kConvolve;
      Window& w = layer_.window;
      w.in_w = w.out_w = w.batch;
      w.batch = 1;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadConvolution() {
    if (x_.size() != 4 || w_.size() != 4) return No("blocks of channels");
    const int64_t groups = product_.attrs.Get<int64_t>("groups");
    layer_.function = groups == 1 ? Function::kConvolve : Function::kDepthwise;
    if (groups != 1 && groups != x_[1]) return No("channel groups");
    if (product_.attrs.Get<int64_t>("pad_value") != 0) {
      return No("padding that is not 0");
    }
    const Dims strides = product_.attrs.GetEach("strides", 2);
    const Dims dilations = product_.attrs.GetEach("dilations", 2);
    const Dims pads = product_.attrs.GetEach("pads", 4);
    layer_.window = {x_[0],      x_[2],   x_[3],   x_[1],        y_[2],
                     y_[3],      y_[1],   w_[2],   w_[3],        strides[0],
                     strides[1], pads[0], pads[1], dilations[0], dilations[1]};
    return absl::OkStatus();
  }

  absl::Status ReadMatrix() {
    // Values of four dimensions lie as images do, with their second one last.
    if (y_.size() == 4 && y_[1] != 1) return No("a matrix for each channel");
    layer_.function = Function::kFullyConnected;
    layer_.window.in_c = x_.back();
    layer_.window.out_c = channels_;
    for (size_t d = 0; d + 1 < x_.size(); ++d) layer_.window.batch *= x_[d];
    return absl::OkStatus();
  }

  // The number of the dimension of sums that channels run along.
  size_t ChannelAxis() const { return is_conv_ ? 1 : y_.size() - 1; }

  absl::Status AddInput(const Value& bytes, double zero) {
    Quantization q;
    INGOT_ASSIGN_OR_RETURN(q.zero, ZeroOfBytes(zero, bytes.type().dtype));
    layer_.inputs = {call_.Outside(bytes)};
    layer_.input_quantizations = {q};
    return absl::OkStatus();
  }

  // quantize(mul(cast(product(x - zero, w) + bias), scale), step, zero)
  absl::Status ReadIntegers() {
    Value x = product_.inputs[0];
    double zero = 0;
    if (const Node* sub = call_.Find({"sub"}); sub != nullptr) {
      INGOT_ASSIGN_OR_RETURN(zero, Number(call_, sub->inputs[1], 0));
      x = sub->inputs[0];
    }
    // The cast of x, unless others read it, too: then it is not among the
    // nodes.
    const bool is_inside = std::find(call_.nodes.begin(), call_.nodes.end(),
                                     x.node) != call_.nodes.end();
    if (is_inside && x.node->Is("cast")) x = x.node->inputs[0];
    INGOT_RETURN_IF_ERROR(AddInput(x, zero));
    if (product_.outputs[0].dtype != DataType::Int(32)) {
      return No("only sums of 32 bits");
    }
    Weights weights;
    INGOT_ASSIGN_OR_RETURN(weights.values, Numbers(call_, product_.inputs[1]));
    if (product_.inputs[1].type().dtype != DataType::Int(8)) {
      return No("weights that are not i8 with zero point 0");
    }
    INGOT_ASSIGN_OR_RETURN(
        weights.scales,
        PerChannel(call_, call_.Operand("mul"), y_, ChannelAxis()));
    SetFactors(weights);
    const Value bias = call_.Operand("add");
    std::vector<double> integers(channels_, 0);
    if (bias) {
      INGOT_ASSIGN_OR_RETURN(integers,
                             PerChannel(call_, bias, y_, ChannelAxis()));
    }
    return SetOperands(weights.values, integers);
  }

  // quantize(product(dequantize(x), dequantize(w)) + bias, step, zero)
  absl::Status ReadDequantized() {
    Value x = product_.inputs[0];
    if (x.node->Is("reshape")) {
      layer_.reads_flat = true;
      x = x.node->inputs[0];
    }
    const Value bytes = x.node->inputs[0];
    INGOT_ASSIGN_OR_RETURN(
        const Quantization q,
        ReadQuantization(call_, *x.node, bytes.type().dtype));
    layer_.inputs = {call_.Outside(bytes)};
    layer_.input_quantizations = {q};
    INGOT_ASSIGN_OR_RETURN(Weights weights, ReadDequantizedWeights());
    for (double& scale : weights.scales) scale *= q.scale;
    SetFactors(weights);
    const Value bias = call_.Operand("add");
    std::vector<double> integers(channels_, 0);
    if (bias) {
      INGOT_ASSIGN_OR_RETURN(integers,
                             PerChannel(call_, bias, y_, ChannelAxis()));
      for (int64_t o = 0; o < channels_; ++o) {
        integers[o] = std::nearbyint(integers[o] / weights.scales[o]);
      }
    }
    return SetOperands(weights.values, integers);
  }

  absl::StatusOr<Weights> ReadDequantizedWeights() {
    Value w = product_.inputs[1];
    const bool transposed = w.node->Is("transpose");
    if (transposed) {
      if (w.node->attrs.Get<Dims>("axes") != Dims{1, 0}) {
        return No("weights whose transpose moves nothing");
      }
      w = w.node->inputs[0];
    }
    const Node& node = *w.node;
    Weights weights;
    const DataType type = node.inputs[0].type().dtype;
    INGOT_ASSIGN_OR_RETURN(weights.values, Numbers(call_, node.inputs[0]));
    if (node.inputs.size() > 2 && node.inputs[2]) {
      INGOT_ASSIGN_OR_RETURN(const std::vector<double> zeros,
                             Numbers(call_, node.inputs[2]));
      for (const double zero : zeros) {
        INGOT_ASSIGN_OR_RETURN(const int32_t own, ZeroOfBytes(zero, type));
        if (own != 0) return No("weights with a zero point");
      }
    } else if (type != DataType::Int(8)) {
      return No("weights with a zero point");
    }
    if (type == DataType::UInt(8)) {
      for (double& value : weights.values) value -= 128;
    }
    if (transposed) {
      // The model's matrix is [columns, rows] of what is multiplied.
      std::vector<double> values(weights.values.size());
      for (int64_t i = 0; i < w_[0] * w_[1]; ++i) {
        values[i] = weights.values[i % w_[1] * w_[0] + i / w_[1]];
      }
      weights.values = std::move(values);
    }
    INGOT_ASSIGN_OR_RETURN(weights.scales, Numbers(call_, node.inputs[1]));
    if (weights.scales.size() == 1) {
      weights.scales.resize(channels_, weights.scales[0]);
      return weights;
    }
    int64_t axis = node.attrs.Get<int64_t>("axis");
    if (axis < 0) axis += static_cast<int64_t>(w_.size());
    const bool second = product_.Is("matmul") != transposed;
    if (axis != (second ? 1 : 0)) {
      return No("scales that do not run along the output's channels");
    }
    return weights;
  }

  void SetFactors(const Weights& weights) {
    layer_.factors = weights.scales;
    for (double& factor : layer_.factors) {
      factor /= layer_.output_quantization.scale;
    }
  }

  // The layer's weights and bias. The weights are laid out as the library reads
  // them.
  absl::Status SetOperands(const std::vector<double>& values,
                           const std::vector<double>& bias) {
    std::vector<double> reach(channels_);  // of each channel's sums
    const Window& w = layer_.window;
    const bool is_matmul = product_.Is("matmul");
    const int64_t taps = w.kernel_h * w.kernel_w;
    const int64_t inputs = is_conv_ ? w_[1] : w.in_c;
    const bool is_depthwise = layer_.function == Function::kDepthwise;
    layer_.weights.resize(values.size());
    for (int64_t o = 0; o < channels_; ++o) {
      for (int64_t i = 0; i < inputs; ++i) {
        for (int64_t tap = 0; tap < taps; ++tap) {
          const int64_t from =
              is_matmul ? i * channels_ + o : (o * inputs + i) * taps + tap;
          const int64_t to = is_depthwise ? tap * channels_ + o
                                          : (o * taps + tap) * inputs + i;
          layer_.weights[to] = static_cast<int8_t>(values[from]);
          reach[o] += 255 * std::fabs(values[from]);
        }
      }
      if (!(reach[o] + std::fabs(bias[o]) <
            std::numeric_limits<int32_t>::max())) {
        return No("sums that do not fit in 32 bits");
      }
      layer_.bias.push_back(static_cast<int32_t>(bias[o]));
    }
    return absl::OkStatus();
  }

  const codegen::RegionCall& call_;
  const Node& product_;
  Layer& layer_;
  Dims x_, w_, y_;
  bool is_conv_ = false;
  int64_t channels_ = 0;
};

}  // namespace

absl::Status ReadProduct(const codegen::RegionCall& call,
                         const relay::Node& product, Layer* layer) {
  return ProductReader(call, product, layer).Read();
}

absl::Status CheckFactors(const Layer& layer) {
  for (const double factor : layer.factors) {
    if (!(factor > 0 && factor < 1)) {
      return No("a result with finer steps than the sums");
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot::cmsis_nn
