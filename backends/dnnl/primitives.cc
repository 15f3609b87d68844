#include "backends/dnnl/primitives.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "backends/dnnl/layouts.h"

namespace ingot::dnnl_backend {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;

algorithm EltwiseAlgorithm(const std::string& name) {
  static const auto* const kAlgorithms = new std::map<std::string, algorithm>{
      {"relu", algorithm::eltwise_relu},
      {"tanh", algorithm::eltwise_tanh},
      {"elu", algorithm::eltwise_elu},
      {"square", algorithm::eltwise_square},
      {"abs", algorithm::eltwise_abs},
      {"sqrt", algorithm::eltwise_sqrt},
      {"linear", algorithm::eltwise_linear},
      {"soft_relu", algorithm::eltwise_soft_relu},
      {"logistic", algorithm::eltwise_logistic},
      {"exp", algorithm::eltwise_exp},
      {"log", algorithm::eltwise_log},
      {"gelu_tanh", algorithm::eltwise_gelu_tanh},
      {"gelu_erf", algorithm::eltwise_gelu_erf},
      {"swish", algorithm::eltwise_swish},
      {"clip", algorithm::eltwise_clip},
      {"round", algorithm::eltwise_round},
      {"mish", algorithm::eltwise_mish},
      {"hardswish", algorithm::eltwise_hardswish}};
  return kAlgorithms->at(name);
}

algorithm BinaryAlgorithm(const std::string& name) {
  static const auto* const kAlgorithms = new std::map<std::string, algorithm>{
      {"add", algorithm::binary_add}, {"sub", algorithm::binary_sub},
      {"mul", algorithm::binary_mul}, {"div", algorithm::binary_div},
      {"max", algorithm::binary_max}, {"min", algorithm::binary_min}};
  return kAlgorithms->at(name);
}

// The state of one call of MakePrimitive.
class Maker {
 public:
  Maker(const PrimitiveRequest& request, const dnnl::engine& engine)
      : request_(request), node_(*request.node), engine_(engine) {
    attr_.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::post_ops ops;
    for (const PostOp& post : node_.post_ops) {
      if (!post.add.empty()) {
        ops.append_sum();
      } else {
        ops.append_eltwise(1.f, EltwiseAlgorithm(post.algorithm),
                           static_cast<float>(post.alpha),
                           static_cast<float>(post.beta));
      }
    }
    attr_.set_post_ops(ops);
  }

  MadePrimitive Run() {
    const std::string& op = node_.op;
    if (op == "convolution") {
      Convolution();
    } else if (op == "inner_product") {
      InnerProduct();
    } else if (op == "matmul") {
      Matmul();
    } else if (op == "binary") {
      Binary();
    } else if (op == "eltwise") {
      Eltwise();
    } else if (op == "pooling") {
      Pooling();
    } else if (op == "batch_normalization") {
      BatchNormalization();
    } else if (op == "layer_normalization") {
      LayerNormalization();
    } else if (op == "lrn") {
      Lrn();
    } else if (op == "softmax" || op == "log_softmax") {
      Softmax();
    } else if (op == "concat") {
      Concat();
    } else if (op == "resampling") {
      Resampling();
    } else {
      throw dnnl::error(dnnl_unimplemented, "there is no such operator here");
    }
    return std::move(made_);
  }

 private:
  const Dims& shape(size_t i) const { return request_.operands[i].shape; }
  const memory::desc& desc(size_t i) const { return request_.operands[i].desc; }
  size_t count() const { return request_.operands.size(); }

  template <typename Primitive, typename PrimitiveDesc>
  void Finish(const PrimitiveDesc& pd) {
    made_.primitive = Primitive(pd);
    made_.scratchpad = pd.scratchpad_desc();
    made_.result = pd.dst_desc();
  }

  // Whether it goes through a general matrix product.
  static bool IsGemm(const dnnl::primitive_desc_base& pd) {
    const absl::string_view name = pd.impl_info_str();
    return absl::StrContains(name, "gemm") && !absl::StrContains(name, "brg");
  }

  void Read(int slot, const memory::desc& as) {
    made_.operands.push_back({slot, as, memory::desc(), {}});
  }
  void ReadView(int slot, const memory::desc& as, const memory::desc& view) {
    made_.operands.push_back({slot, as, view, {}});
  }

  void Convolution() {
    const int64_t groups = node_.Int("groups");
    const size_t n = shape(0).size() - 2;
    const Dims& pads = node_.Ints("pads");
    const Dims begin(pads.begin(), pads.begin() + n),
        end(pads.begin() + n, pads.end());
    Dims dilations = node_.Ints("dilations");
    for (int64_t& d : dilations) --d;  // oneDNN counts the gaps
    Dims weights = shape(1);
    if (groups > 1) {
      weights[0] /= groups;
      weights.insert(weights.begin(), groups);
    }
    const bool has_bias = count() > 2;
    const memory::desc bias = has_bias ? Plain(shape(2)) : memory::desc();
    auto make = [&](const Dims& data, const Dims& l, const Dims& r) {
      const dnnl::convolution_forward::desc d(
          prop_kind::forward_inference, algorithm::convolution_direct,
          AnyLayout(data), AnyLayout(weights), bias, AnyLayout(request_.result),
          node_.Ints("strides"), dilations, l, r);
      return dnnl::convolution_forward::primitive_desc(d, attr_, engine_);
    };
    auto pd = make(shape(0), begin, end);
    // Its own kernels refuse wide padding, as dilated convolutions have it, but
    // take data that has been padded already.
    Dims margin;
    if (IsGemm(pd)) {
      Dims padded = shape(0), at(n + 2, 0);
      for (size_t d = 0; d < n; ++d) {
        padded[2 + d] += begin[d] + end[d];
        at[2 + d] = begin[d];
      }
      auto other = make(padded, Dims(n, 0), Dims(n, 0));
      if (!IsGemm(other) && !Sliced(other.src_desc(), at, shape(0)).is_zero()) {
        pd = std::move(other);
        margin = std::move(at);
      }
    }
    Finish<dnnl::convolution_forward>(pd);
    made_.operands.push_back(
        {DNNL_ARG_SRC, pd.src_desc(), memory::desc(), std::move(margin)});
    if (groups > 1) {
      ReadView(DNNL_ARG_WEIGHTS, pd.weights_desc(), Plain(weights));
    } else {
      Read(DNNL_ARG_WEIGHTS, pd.weights_desc());
    }
    if (has_bias) Read(DNNL_ARG_BIAS, pd.bias_desc());
  }

  // Rows of all leading dimensions together.
  static Dims AsMatrix(const Dims& dims) {
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < dims.size(); ++d) rows *= dims[d];
    return {rows, dims.back()};
  }

  void InnerProduct() {
    const Dims data = AsMatrix(shape(0)), result = AsMatrix(request_.result);
    const Dims weights = {result[1], data[1]};
    // Weights [in, out] are read as [out, in], column by column.
    const memory::desc view =
        node_.String("weights") == "io"
            ? memory::desc(weights, memory::data_type::f32,
                           memory::dims{1, result[1]})
            : Plain(weights);
    const bool is_constant = request_.operands[1].is_constant;
    const bool has_bias = count() > 2;
    const memory::desc bias = has_bias ? Plain(shape(2)) : memory::desc();
    auto make = [&](const memory::desc& layout) {
      const dnnl::inner_product_forward::desc d(prop_kind::forward_inference,
                                                Plain(data), layout, bias,
                                                Plain(result));
      return dnnl::inner_product_forward::primitive_desc(d, attr_, engine_);
    };
    auto pd = make(is_constant ? AnyLayout(weights) : view);
    // The general matrix product has no layout of its own, and likes best what
    // is summed over to be contiguous: up to half as fast again.
    if (is_constant && IsGemm(pd)) pd = make(Plain(weights));
    Finish<dnnl::inner_product_forward>(pd);
    ReadView(DNNL_ARG_SRC, pd.src_desc(), Plain(data));
    ReadView(DNNL_ARG_WEIGHTS, pd.weights_desc(), view);
    if (has_bias) Read(DNNL_ARG_BIAS, pd.bias_desc());
    made_.result_view = Plain(request_.result);
  }

  // oneDNN's product runs fast where rows or columns are contiguous, however
  // the rest lies; other layouts are made plain.
  static memory::desc Factor(const memory::desc& desc) {
    const auto& layout = desc.data.format_desc.blocking;
    const int n = desc.data.ndims;
    const bool plain = desc.data.format_kind == dnnl_blocked &&
                       layout.inner_nblks == 0 && desc.data.offset0 >= 0;
    if (plain && (layout.strides[n - 1] == 1 || layout.strides[n - 2] == 1)) {
      return desc;
    }
    return Plain(desc.dims());
  }

  void Matmul() {
    const size_t rank = request_.result.size();
    const bool has_bias = count() > 2;
    Dims bias_shape(rank, 1);
    bias_shape.back() = request_.result.back();
    const memory::desc bias = has_bias ? Plain(bias_shape) : memory::desc();
    const dnnl::matmul::desc d(Factor(desc(0)), Factor(desc(1)), bias,
                               Plain(request_.result));
    const dnnl::matmul::primitive_desc pd(d, attr_, engine_);
    Finish<dnnl::matmul>(pd);
    Read(DNNL_ARG_SRC, pd.src_desc());
    Read(DNNL_ARG_WEIGHTS, pd.weights_desc());
    if (has_bias) ReadView(DNNL_ARG_BIAS, pd.bias_desc(), bias);
  }

  // Blocks win over row-major, as what comes next most likely wants blocks. A
  // kernel made for this processor wins over one for any layout, which is
  // slower than copies are.
  void Binary() {
    const bool same = shape(0) == shape(1);
    memory::desc a = Simple(desc(0));
    if (same && IsPlain(a)) a = Simple(desc(1));
    const memory::desc plain_a = Plain(shape(0)), plain_b = Plain(shape(1));
    const memory::desc b = same ? a : LikeBlocked(a, shape(1));
    if (!b.is_zero() && TryBinary(a, b, false)) return;
    if (TryBinary(a, plain_b, false)) return;
    if (TryBinary(plain_a, plain_b, false)) return;
    // As [before, along, after] and [1, along, 1].
    const Dims folded_a = Folded(shape(0)), folded_b = Folded(shape(1));
    const bool whole = folded_b[1] == folded_a[1] || folded_b[1] == 1;
    if (whole && TryBinary(Plain(folded_a), Plain(folded_b), false)) {
      made_.operands[0].view = Plain(folded_a);
      made_.operands[1].view = Plain(folded_b);
      made_.result_view = plain_a;
      return;
    }
    if (!TryBinary(plain_a, plain_b, true)) {
      throw dnnl::error(dnnl_unimplemented, "no primitive for this broadcast");
    }
  }

  // `dims` with the dimensions before those along which the second operand
  // runs as one, these as one, and those after as one.
  Dims Folded(const Dims& dims) const {
    const Dims& b = shape(1);
    size_t first = 0, last = b.size();
    while (first < b.size() && b[first] == 1) ++first;
    while (last > first && b[last - 1] == 1) --last;
    Dims folded = {1, 1, 1};
    for (size_t d = 0; d < dims.size(); ++d) {
      folded[d < first ? 0 : d < last ? 1 : 2] *= dims[d];
    }
    return folded;
  }

  bool TryBinary(const memory::desc& a, const memory::desc& b,
                 bool may_be_slow) {
    const dnnl::binary::desc d(BinaryAlgorithm(node_.String("algorithm")), a, b,
                               a);
    const dnnl::binary::primitive_desc pd(d, attr_, engine_,
                                          /*allow_empty=*/true);
    if (!pd || (!may_be_slow && absl::StartsWith(pd.impl_info_str(), "ref"))) {
      return false;
    }
    Finish<dnnl::binary>(pd);
    Read(DNNL_ARG_SRC_0, a);
    Read(DNNL_ARG_SRC_1, b);
    made_.in_place = true;
    return true;
  }

  void Eltwise() {
    const memory::desc layout = Simple(desc(0));
    const dnnl::eltwise_forward::desc d(
        prop_kind::forward_inference,
        EltwiseAlgorithm(node_.String("algorithm")), layout,
        static_cast<float>(node_.Float("alpha")),
        static_cast<float>(node_.Float("beta")));
    const dnnl::eltwise_forward::primitive_desc pd(d, attr_, engine_);
    Finish<dnnl::eltwise_forward>(pd);
    Read(DNNL_ARG_SRC, pd.src_desc());
    made_.in_place = true;
  }

  void Pooling() {
    const std::string& name = node_.String("algorithm");
    const algorithm kind = name == "max" ? algorithm::pooling_max
                           : name == "avg_include_padding"
                               ? algorithm::pooling_avg_include_padding
                               : algorithm::pooling_avg_exclude_padding;
    const size_t n = shape(0).size() - 2;
    const Dims& pads = node_.Ints("pads");
    const Dims begin(pads.begin(), pads.begin() + n),
        end(pads.begin() + n, pads.end());
    Dims dilations = node_.Ints("dilations");
    for (int64_t& d : dilations) --d;
    const dnnl::pooling_v2_forward::desc d(
        prop_kind::forward_inference, kind, Simple(desc(0)),
        AnyLayout(request_.result), node_.Ints("strides"), node_.Ints("kernel"),
        dilations, begin, end);
    const dnnl::pooling_v2_forward::primitive_desc pd(d, attr_, engine_);
    Finish<dnnl::pooling_v2_forward>(pd);
    Read(DNNL_ARG_SRC, pd.src_desc());
  }

  void BatchNormalization() {
    using flags = dnnl::normalization_flags;
    const dnnl::batch_normalization_forward::desc d(
        prop_kind::forward_inference, Simple(desc(0)),
        static_cast<float>(node_.Float("epsilon")),
        flags::use_global_stats | flags::use_scale | flags::use_shift);
    const dnnl::batch_normalization_forward::primitive_desc pd(d, attr_,
                                                               engine_);
    Finish<dnnl::batch_normalization_forward>(pd);
    Read(DNNL_ARG_SRC, pd.src_desc());
    Read(DNNL_ARG_SCALE, Plain(shape(1)));
    Read(DNNL_ARG_SHIFT, Plain(shape(2)));
    Read(DNNL_ARG_MEAN, Plain(shape(3)));
    Read(DNNL_ARG_VARIANCE, Plain(shape(4)));
    made_.in_place = true;
  }

  void LayerNormalization() {
    using flags = dnnl::normalization_flags;
    flags given = flags::use_scale;
    if (count() > 2) given |= flags::use_shift;
    const dnnl::layer_normalization_forward::desc d(
        prop_kind::forward_inference, Plain(shape(0)),
        static_cast<float>(node_.Float("epsilon")), given);
    const dnnl::layer_normalization_forward::primitive_desc pd(d, attr_,
                                                               engine_);
    Finish<dnnl::layer_normalization_forward>(pd);
    Read(DNNL_ARG_SRC, pd.src_desc());
    Read(DNNL_ARG_SCALE, Plain(shape(1)));
    if (count() > 2) Read(DNNL_ARG_SHIFT, Plain(shape(2)));
  }

  void Lrn() {
    const dnnl::lrn_forward::desc d(prop_kind::forward_inference,
                                    algorithm::lrn_across_channels,
                                    Simple(desc(0)), node_.Int("size"),
                                    static_cast<float>(node_.Float("alpha")),
                                    static_cast<float>(node_.Float("beta")),
                                    static_cast<float>(node_.Float("bias")));
    const dnnl::lrn_forward::primitive_desc pd(d, attr_, engine_);
    Finish<dnnl::lrn_forward>(pd);
    Read(DNNL_ARG_SRC, pd.src_desc());
  }

  void Softmax() {
    const memory::desc layout = Simple(desc(0));
    const dnnl::softmax_v2_forward::desc d(
        prop_kind::forward_inference,
        node_.op == "softmax" ? algorithm::softmax_accurate
                              : algorithm::softmax_log,
        layout, layout, static_cast<int>(node_.Int("axis")));
    const dnnl::softmax_v2_forward::primitive_desc pd(d, attr_, engine_);
    Finish<dnnl::softmax_v2_forward>(pd);
    Read(DNNL_ARG_SRC, pd.src_desc());
    made_.in_place = true;
  }

  void Concat() {
    std::vector<memory::desc> sources;
    for (size_t i = 0; i < count(); ++i) sources.push_back(Simple(desc(i)));
    const dnnl::concat::primitive_desc pd(static_cast<int>(node_.Int("axis")),
                                          sources, engine_, attr_);
    made_.primitive = dnnl::concat(pd);
    made_.scratchpad = pd.scratchpad_desc();
    made_.result = pd.dst_desc();
    for (size_t i = 0; i < count(); ++i) {
      Read(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), sources[i]);
    }
  }

  void Resampling() {
    const bool linear = node_.String("algorithm") == "linear";
    const dnnl::resampling_forward::desc d(
        prop_kind::forward_inference,
        linear ? algorithm::resampling_linear : algorithm::resampling_nearest,
        Simple(desc(0)), AnyLayout(request_.result));
    const dnnl::resampling_forward::primitive_desc pd(d, attr_, engine_);
    Finish<dnnl::resampling_forward>(pd);
    Read(DNNL_ARG_SRC, pd.src_desc());
  }

  // Blocked by channels or row-major: what kernels are written for. Views with
  // gaps or in another order become plain.
  static memory::desc Simple(const memory::desc& desc) {
    const auto& data = desc.data;
    const bool blocked = data.format_kind == dnnl_blocked &&
                         data.format_desc.blocking.inner_nblks == 1 &&
                         data.offset0 == 0;
    if (!blocked) return Plain(desc.dims());
    // Dimensions in order, one of them in blocks inside.
    const auto& strides = data.format_desc.blocking.strides;
    for (int d = 0; d + 1 < data.ndims; ++d) {
      if (strides[d] < strides[d + 1]) return Plain(desc.dims());
    }
    return desc;
  }

  const PrimitiveRequest& request_;
  const Node& node_;
  const dnnl::engine& engine_;
  dnnl::primitive_attr attr_;
  MadePrimitive made_;
};

}  // namespace

MadePrimitive MakePrimitive(const PrimitiveRequest& request,
                            const dnnl::engine& engine) {
  return Maker(request, engine).Run();
}

}  // namespace ingot::dnnl_backend
