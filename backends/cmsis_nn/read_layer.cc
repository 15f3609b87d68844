#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "backends/cmsis_nn/layer.h"
#include "backends/cmsis_nn/product.h"
#include "backends/cmsis_nn/values.h"
#include "base/status_macros.h"
#include "runtime/tensor.h"

namespace ingot::cmsis_nn {
namespace {

using codegen::KnownShape;
using relay::Node;
using relay::Value;

bool Equal(const Quantization& a, const Quantization& b) {
  return a.scale == b.scale && a.zero == b.zero;
}

class Reader {
 public:
  explicit Reader(const codegen::RegionCall& call) : call_(call) {}

  absl::StatusOr<Layer> Read() {
    const Node* product = call_.Find({"conv2d", "dense", "matmul"});
    const Node* pool = call_.Find(
        {"avg_pool2d", "global_avg_pool2d", "reduce_mean", "max_pool2d"});
    const Node* softmax = call_.Find({"softmax"});
    INGOT_RETURN_IF_ERROR(ReadOutput());
    if (product != nullptr) {
      INGOT_RETURN_IF_ERROR(ReadProduct(call_, *product, &layer_));
    } else if (pool != nullptr) {
      INGOT_RETURN_IF_ERROR(ReadPool(*pool));
    } else if (softmax != nullptr) {
      INGOT_RETURN_IF_ERROR(ReadSoftmax(*softmax));
    } else {
      INGOT_RETURN_IF_ERROR(ReadSum(*call_.Find({"add"})));
    }
    for (const Value& input : layer_.inputs) {
      INGOT_ASSIGN_OR_RETURN(const int64_t count,
                             codegen::KnownElements(input.type()));
      if (count == 0 || count > std::numeric_limits<int32_t>::max()) {
        return No("a tensor without elements, or with more than 2^31");
      }
      if (input.node->constant.has_value()) return No("a constant operand");
    }
    return std::move(layer_);
  }

 private:
  // The result's quantisation, and the limits that an activation sets.
  absl::Status ReadOutput() {
    const Node& last = *call_.nodes.back();
    INGOT_RETURN_IF_ERROR(ZeroOfBytes(0, last.outputs[0].dtype).status());
    if (!last.Is("quantize")) return absl::OkStatus();
    INGOT_ASSIGN_OR_RETURN(
        layer_.output_quantization,
        ReadQuantization(call_, last, last.outputs[0].dtype));
    const Node* activation = call_.Find({"relu", "clip"});
    if (activation == nullptr) return absl::OkStatus();
    const double none = HUGE_VAL;
    double low = 0, high = none;
    if (activation->Is("clip")) {
      const double* min = activation->attrs.Find<double>("min");
      const double* max = activation->attrs.Find<double>("max");
      low = min != nullptr ? *min : -none;
      high = max != nullptr ? *max : none;
    }
    layer_.minimum = ByteOf(low);
    layer_.maximum = ByteOf(high);
    return absl::OkStatus();
  }

  int32_t ByteOf(double real) const {
    const Quantization& q = layer_.output_quantization;
    const double byte = std::nearbyint(real / q.scale) + q.zero;
    return static_cast<int32_t>(std::clamp(byte, -128.0, 127.0));
  }

  // An operand that `dequantize` makes; or, of operators on bytes, the operand.
  absl::Status AddInput(const Value& value) {
    Value bytes = value;
    Quantization q;
    if (value.node->Is("dequantize")) {
      bytes = value.node->inputs[0];
      INGOT_ASSIGN_OR_RETURN(
          q, ReadQuantization(call_, *value.node, bytes.type().dtype));
    }
    INGOT_RETURN_IF_ERROR(ZeroOfBytes(0, bytes.type().dtype).status());
    layer_.inputs.push_back(call_.Outside(bytes));
    layer_.input_quantizations.push_back(q);
    return absl::OkStatus();
  }

  absl::Status ReadPool(const Node& node) {
    INGOT_RETURN_IF_ERROR(AddInput(node.inputs[0]));
    INGOT_ASSIGN_OR_RETURN(const Dims x, KnownShape(node.inputs[0].type()));
    INGOT_ASSIGN_OR_RETURN(const Dims y, KnownShape(node.outputs[0]));
    if (x.size() != 4 || x[0] != 1) return No("only one image at a time");
    Window& w = layer_.window;
    w.in_h = x[2];
    w.in_w = x[3];
    w.in_c = w.out_c = x[1];
    const bool is_max = node.Is("max_pool2d");
    if (is_max || node.Is("avg_pool2d")) {
      INGOT_RETURN_IF_ERROR(ReadPoolWindow(node, y, is_max));
    } else {
      const Dims* const axes = node.attrs.Find<Dims>("axes");
      if (node.Is("reduce_mean") && (axes == nullptr || *axes != Dims{2, 3})) {
        return No("a mean over other dimensions than those of the image");
      }
      w.kernel_h = x[2];
      w.kernel_w = x[3];
    }
    if (call_.Find({"reshape"}) != nullptr) {
      INGOT_ASSIGN_OR_RETURN(const Dims result,
                             KnownShape(call_.nodes.back()->outputs[0]));
      if (!IsSameOrder(y) || !IsSameOrder(result)) {
        return No("a reshape between orders with channels last");
      }
    }
    layer_.function = is_max ? Function::kMaxPool : Function::kAveragePool;
    const bool same =
        !call_.nodes.back()->Is("quantize") ||
        Equal(layer_.input_quantizations[0], layer_.output_quantization);
    if (same) return absl::OkStatus();
    if (is_max) return No("a maximum with another scale than its operand");
    return ScaleAverages();
  }

  absl::Status ReadPoolWindow(const Node& node, const Dims& y, bool is_max) {
    Window& w = layer_.window;
    const Dims kernel = node.attrs.GetEach("kernel", 2);
    const Dims strides = node.attrs.GetEach("strides", 2);
    const Dims pads = node.attrs.GetEach("pads", 4);
    if (node.attrs.GetEach("dilations", 2) != Dims{1, 1}) {
      return No("a window with gaps");
    }
    if (!is_max && pads != Dims{0, 0, 0, 0} &&
        node.attrs.Get<int64_t>("count_include_pad") != 0) {
      return No("padding that counts");
    }
    w.out_h = y[2];
    w.out_w = y[3];
    w.kernel_h = kernel[0];
    w.kernel_w = kernel[1];
    w.stride_h = strides[0];
    w.stride_w = strides[1];
    w.pad_h = pads[0];
    w.pad_w = pads[1];
    return absl::OkStatus();
  }

  // arm_avgpool_s8 keeps the scale; a depthwise convolution with weights of 1
  // does not.
  absl::Status ScaleAverages() {
    const Window& w = layer_.window;
    if (w.pad_h != 0 || w.pad_w != 0 ||
        (w.out_h - 1) * w.stride_h + w.kernel_h > w.in_h ||
        (w.out_w - 1) * w.stride_w + w.kernel_w > w.in_w) {
      return No("an average over padding with another scale than its operand");
    }
    const int64_t taps = w.kernel_h * w.kernel_w;
    layer_.function = Function::kDepthwise;
    layer_.weights.assign(taps * w.in_c, 1);
    layer_.bias.assign(w.in_c, 0);
    layer_.factors.assign(w.in_c, layer_.input_quantizations[0].scale /
                                      (static_cast<double>(taps) *
                                       layer_.output_quantization.scale));
    return CheckFactors(layer_);
  }

  absl::Status ReadSoftmax(const Node& node) {
    INGOT_RETURN_IF_ERROR(AddInput(node.inputs[0]));
    INGOT_ASSIGN_OR_RETURN(const Dims x, KnownShape(node.inputs[0].type()));
    const int64_t rank = static_cast<int64_t>(x.size());
    const int64_t axis = node.attrs.Get<int64_t>("axis");
    if (rank == 0 || rank > 3 || (axis != -1 && axis != rank - 1)) {
      return No("only along the last of at most three dimensions");
    }
    const Quantization& y = layer_.output_quantization;
    if (std::fabs(y.scale * 256 - 1) > 1e-6 || y.zero != -128) {
      return No("a result that is not in 256ths from 0 to 255");
    }
    layer_.function = Function::kSoftmax;
    layer_.window.in_c = x.back();
    for (int64_t d = 0; d + 1 < rank; ++d) layer_.window.batch *= x[d];
    return absl::OkStatus();
  }

  absl::Status ReadSum(const Node& node) {
    INGOT_ASSIGN_OR_RETURN(const Dims y, KnownShape(node.outputs[0]));
    for (const Value& input : node.inputs) {
      INGOT_RETURN_IF_ERROR(AddInput(input));
      INGOT_ASSIGN_OR_RETURN(const Dims x, KnownShape(input.type()));
      if (x != y) return No("an operand that would have to be repeated");
    }
    INGOT_ASSIGN_OR_RETURN(layer_.window.in_c, CountElements(y));
    layer_.function = Function::kAdd;
    return absl::OkStatus();
  }

  const codegen::RegionCall& call_;
  Layer layer_;
};

}  // namespace

bool IsSameOrder(const Dims& dims) {
  return dims.size() != 4 || dims[1] == 1 || dims[2] * dims[3] == 1;
}

absl::StatusOr<Layer> ReadLayer(const codegen::RegionCall& call) {
  return Reader(call).Read();
}

}  // namespace ingot::cmsis_nn
