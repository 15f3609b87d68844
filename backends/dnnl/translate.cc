#include "backends/dnnl/translate.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/dnnl/operators.h"
#include "backends/dnnl/translate_eltwise.h"
#include "backends/dnnl/translate_values.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"

namespace ingot::dnnl_backend {
namespace {

using relay::Attrs;
using relay::Value;

// The layouts that oneDNN is asked to read; blocked ones are for Ingot's own
// kernels.
constexpr absl::string_view kDataLayouts[] = {"NCW", "NCHW", "NCDHW"};
constexpr absl::string_view kKernelLayouts[] = {"OIW", "OIHW", "OIDHW"};

// "conv2d" -> 2.
size_t SpatialDims(const relay::Node& node) {
  const std::string& name = node.op->name;
  return static_cast<size_t>(name[name.size() - 2] - '0');
}

int64_t PositiveAxis(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

class Translation {
 public:
  Translation(const relay::Node& node, const Bindings& bindings)
      : node_(node), attrs_(node.attrs), bindings_(bindings) {}

  absl::StatusOr<Step> Run() {
    if (node_.kind != relay::NodeKind::kOp || node_.outputs.size() != 1) {
      return No("this is no operator with one result");
    }
    for (const Value& input : node_.inputs) {
      if (input.node == nullptr) continue;
      INGOT_ASSIGN_OR_RETURN(Dims shape, ShapeOf(input));
      shapes_.push_back(shape);
      step_.operands.push_back({Bound(input, bindings_), std::move(shape)});
    }
    if (step_.operands.empty() ||
        step_.operands.size() != node_.inputs.size()) {
      return No("an operand is left out");
    }
    step_.node = &node_;
    step_.output = Value{const_cast<relay::Node*>(&node_), 0};
    INGOT_ASSIGN_OR_RETURN(result_, ShapeOf(step_.output));
    INGOT_RETURN_IF_ERROR(Translate());
    INGOT_RETURN_IF_ERROR(Check());
    return std::move(step_);
  }

  // The method that translates each of relay's operators.
  using Method = absl::Status (Translation::*)();
  static const std::map<std::string, Method>& Methods() {
    using T = Translation;
    static const auto* const methods = [] {
      auto* all =
          new std::map<std::string, Method>{{"batch_norm", &T::BatchNorm},
                                            {"concat", &T::Concat},
                                            {"dense", &T::Product},
                                            {"flatten", &T::Reshape},
                                            {"layer_norm", &T::LayerNorm},
                                            {"log_softmax", &T::Softmax},
                                            {"lrn", &T::Lrn},
                                            {"matmul", &T::Product},
                                            {"reshape", &T::Reshape},
                                            {"resize", &T::Resize},
                                            {"slice", &T::Slice},
                                            {"softmax", &T::Softmax},
                                            {"squeeze", &T::Reshape},
                                            {"transpose", &T::Transpose},
                                            {"unsqueeze", &T::Reshape}};
      for (const char* n : {"1d", "2d", "3d"}) {
        all->emplace(absl::StrCat("conv", n), &T::Conv);
        all->emplace(absl::StrCat("max_pool", n), &T::Pool);
        all->emplace(absl::StrCat("avg_pool", n), &T::Pool);
        all->emplace(absl::StrCat("global_max_pool", n), &T::GlobalPool);
        all->emplace(absl::StrCat("global_avg_pool", n), &T::GlobalPool);
      }
      for (const std::string& op : BinaryOperators()) {
        all->emplace(op, &T::Binary);
      }
      for (const std::string& op : EltwiseOperators()) {
        all->emplace(op, &T::EltwiseNode);
      }
      return all;
    }();
    return *methods;
  }

 private:
  absl::Status Translate() {
    auto method = Methods().find(node_.op->name);
    if (method == Methods().end()) {
      return No("oneDNN has no operator for ", node_.op->name);
    }
    return (this->*method->second)();
  }

  absl::Status Transpose() {
    step_.op = "transpose";
    step_.attributes["axes"] = attrs_.Get<Dims>("axes");
    return absl::OkStatus();
  }

  absl::Status Reshape() {
    step_.op = "reshape";
    step_.attributes["shape"] = result_;
    return absl::OkStatus();
  }

  absl::Status Softmax() {
    step_.op = node_.op->name;
    return SetAxis();
  }

  absl::Status Concat() {
    step_.op = "concat";
    return SetAxis();
  }

  // "max_pool2d" -> "max", and so on.
  std::string PoolAlgorithm() const {
    if (absl::StrContains(node_.op->name, "max_pool")) return "max";
    const bool counts = absl::StartsWith(node_.op->name, "global") ||
                        attrs_.Get<int64_t>("count_include_pad") != 0;
    return counts ? "avg_include_padding" : "avg_exclude_padding";
  }

  // The table of operators has the last word, so that what is claimed here is
  // what graphs can say.
  absl::Status Check() {
    Node node;
    node.attributes = step_.attributes;
    for (const auto& [name, value] : node.attributes) {
      const double* const number = std::get_if<double>(&value);
      if (number != nullptr && !IsNumber(*number)) {
        return No("its ", name, " is ", *number);
      }
    }
    std::vector<Dims> shapes;
    for (const Operand& operand : step_.operands) {
      shapes.push_back(operand.shape);
    }
    absl::StatusOr<Dims> shape = FindOperator(step_.op)->shape(node, shapes);
    if (!shape.ok()) return No(shape.status().message());
    if (*shape != result_) return No("its result has another shape");
    return absl::OkStatus();
  }

  absl::Status RefuseType() {
    if (attrs_.Has("out_dtype")) return No("it converts its elements");
    return absl::OkStatus();
  }

  absl::Status RefuseLayout(absl::string_view attr, absl::string_view plain) {
    const std::string layout = attrs_.Get<std::string>(attr);
    if (layout != plain) return No("its layout is ", layout);
    return absl::OkStatus();
  }

  absl::Status Conv() {
    INGOT_RETURN_IF_ERROR(RefuseType());
    const size_t n = SpatialDims(node_);
    INGOT_RETURN_IF_ERROR(RefuseLayout("data_layout", kDataLayouts[n - 1]));
    INGOT_RETURN_IF_ERROR(RefuseLayout("kernel_layout", kKernelLayouts[n - 1]));
    if (attrs_.Get<int64_t>("pad_value") != 0) {
      return No("its padding is not 0");
    }
    step_.op = "convolution";
    SetWindow(n);
    step_.attributes["groups"] = attrs_.Get<int64_t>("groups");
    return absl::OkStatus();
  }

  void SetWindow(size_t n) {
    step_.attributes["strides"] = attrs_.GetEach("strides", n);
    step_.attributes["pads"] = attrs_.GetEach("pads", 2 * n);
    step_.attributes["dilations"] = attrs_.GetEach("dilations", n);
  }

  absl::Status Product() {
    INGOT_RETURN_IF_ERROR(RefuseType());
    if (node_.Is("dense") || shapes_[1].size() == 2) {
      step_.op = "inner_product";
      step_.attributes["weights"] =
          std::string(node_.Is("dense") ? "oi" : "io");
      return absl::OkStatus();
    }
    step_.op = "matmul";
    const size_t rank = std::max(shapes_[0].size(), shapes_[1].size());
    for (Operand& operand : step_.operands) LeadingOnes(rank, &operand.shape);
    return absl::OkStatus();
  }

  static void LeadingOnes(size_t rank, Dims* shape) {
    shape->insert(shape->begin(), rank - shape->size(), 1);
  }

  absl::Status Pool() {
    const std::string algorithm = PoolAlgorithm();
    const size_t n = SpatialDims(node_);
    INGOT_RETURN_IF_ERROR(RefuseLayout("layout", kDataLayouts[n - 1]));
    step_.op = "pooling";
    step_.attributes["algorithm"] = algorithm;
    step_.attributes["kernel"] = attrs_.Get<Dims>("kernel");
    SetWindow(n);
    if (attrs_.Get<int64_t>("ceil_mode") == 0) return absl::OkStatus();
    // A last window that reaches further is more padding at the end.
    const Dims& kernel = attrs_.Get<Dims>("kernel");
    const Dims strides = attrs_.GetEach("strides", n);
    const Dims dilations = attrs_.GetEach("dilations", n);
    Dims& pads = std::get<Dims>(step_.attributes["pads"]);
    for (size_t d = 0; d < n; ++d) {
      const int64_t end = (result_[2 + d] - 1) * strides[d] +
                          (kernel[d] - 1) * dilations[d] + 1;
      const int64_t extra = end - shapes_[0][2 + d] - pads[d] - pads[n + d];
      if (extra <= 0) continue;
      if (algorithm == "avg_include_padding") {
        return No("a window reaches beyond the padding that it counts");
      }
      pads[n + d] += extra;
    }
    return absl::OkStatus();
  }

  absl::Status GlobalPool() {
    const size_t n = SpatialDims(node_);
    INGOT_RETURN_IF_ERROR(RefuseLayout("layout", kDataLayouts[n - 1]));
    step_.op = "pooling";
    step_.attributes["algorithm"] = PoolAlgorithm();
    step_.attributes["kernel"] = Dims(shapes_[0].begin() + 2, shapes_[0].end());
    step_.attributes["strides"] = Dims(n, 1);
    step_.attributes["dilations"] = Dims(n, 1);
    step_.attributes["pads"] = Dims(2 * n, 0);
    return absl::OkStatus();
  }

  absl::Status BatchNorm() {
    step_.op = "batch_normalization";
    step_.attributes["epsilon"] = attrs_.Get<double>("epsilon");
    return absl::OkStatus();
  }

  absl::Status LayerNorm() {
    const size_t rank = shapes_[0].size();
    const int64_t axis = PositiveAxis(attrs_.Get<int64_t>("axis"), rank);
    if (axis + 1 != static_cast<int64_t>(rank)) {
      return No("it averages over more than the last dimension");
    }
    step_.op = "layer_normalization";
    step_.attributes["epsilon"] = attrs_.Get<double>("epsilon");
    for (size_t i = 1; i < step_.operands.size(); ++i) {
      Dims& shape = step_.operands[i].shape;
      while (shape.size() > 1 && shape[0] == 1) shape.erase(shape.begin());
    }
    return absl::OkStatus();
  }

  absl::Status SetAxis() {
    step_.attributes["axis"] =
        PositiveAxis(attrs_.Get<int64_t>("axis"), shapes_[0].size());
    return absl::OkStatus();
  }

  absl::Status Lrn() {
    step_.op = "lrn";
    step_.attributes["size"] = attrs_.Get<int64_t>("size");
    step_.attributes["alpha"] = attrs_.Get<double>("alpha");
    step_.attributes["beta"] = attrs_.Get<double>("beta");
    step_.attributes["bias"] = attrs_.Get<double>("bias");
    return absl::OkStatus();
  }

  // oneDNN samples at the centres of pixels: the linear mode is that of
  // half_pixel; where each pixel is repeated a whole number of times the
  // nearest one is never half way between two.
  absl::Status Resize() {
    const std::string mode = attrs_.Get<std::string>("mode");
    const std::string coordinates =
        attrs_.Get<std::string>("coordinate_transformation_mode");
    const std::vector<double> scales =
        attrs_.Get<std::vector<double>>("scales");
    const Dims& x = shapes_[0];
    if (attrs_.Get<int64_t>("scale_operand") != 0) {
      return No("a run tells its scales");
    }
    if (x.size() < 3 || x[0] != result_[0] || x[1] != result_[1]) {
      return No("it resizes more than planes");
    }
    bool whole = true;
    for (size_t d = 0; d < x.size(); ++d) {
      whole = whole && result_[d] % x[d] == 0;
      if (!scales.empty() && scales[d] * static_cast<double>(x[d]) !=
                                 static_cast<double>(result_[d])) {
        return No("its scales are not those of its extents");
      }
    }
    const std::string rounding = attrs_.Get<std::string>("nearest_mode");
    const bool nearest = mode == "nearest" && whole &&
                         ((coordinates == "half_pixel" &&
                           absl::StartsWith(rounding, "round_")) ||
                          (coordinates == "asymmetric" && rounding == "floor"));
    if (!nearest && !(mode == "linear" && coordinates == "half_pixel")) {
      return No("oneDNN has no mode ", mode, " of ", coordinates,
                " for these extents");
    }
    step_.op = "resampling";
    step_.attributes["algorithm"] = mode;
    step_.attributes["sizes"] = Dims(result_.begin() + 2, result_.end());
    return absl::OkStatus();
  }

  absl::Status Slice() {
    const auto starts = relay::ConstShape(attrs_.Get<relay::Shape>("starts"));
    const auto ends = relay::ConstShape(attrs_.Get<relay::Shape>("ends"));
    const Dims& axes = attrs_.Get<Dims>("axes");
    if (!starts || !ends) return No("where it starts is not known before");
    for (int64_t step : attrs_.GetEach("steps", 1)) {
      if (step != 1) return No("it skips elements");
    }
    Dims from(shapes_[0].size(), 0), to = shapes_[0];
    for (size_t i = 0; i < axes.size(); ++i) {
      from[axes[i]] = (*starts)[i];
      to[axes[i]] = (*ends)[i];
    }
    step_.op = "slice";
    step_.attributes["starts"] = from;
    step_.attributes["ends"] = to;
    return absl::OkStatus();
  }

  absl::Status Binary() {
    const std::string algorithm = *BinaryAlgorithm(node_);
    // With one constant it is a linear function.
    for (int other = 0; other < 2; ++other) {
      std::optional<float> scalar = ScalarConstant(step_.operands[other].value);
      std::optional<PostOp> post;
      if (scalar && shapes_[1 - other] == result_) {
        post = LinearPost(algorithm, *scalar, /*scalar_first=*/other == 0);
      }
      if (!post) continue;
      if (other == 0) std::swap(step_.operands[0], step_.operands[1]);
      step_.operands.pop_back();
      return SetEltwise(*post);
    }
    step_.op = "binary";
    step_.attributes["algorithm"] = algorithm;
    for (Operand& operand : step_.operands) {
      LeadingOnes(result_.size(), &operand.shape);
    }
    const bool commutes = algorithm != "sub" && algorithm != "div";
    if (commutes && step_.operands[0].shape != result_) {
      std::swap(step_.operands[0], step_.operands[1]);
    }
    // oneDNN repeats fast what runs along neighbouring dimensions; the rest
    // goes element by element.
    int runs = 0;
    bool inside = false;
    for (size_t d = 0; d < result_.size(); ++d) {
      const bool repeated = step_.operands[1].shape[d] != result_[d];
      const bool one = result_[d] == 1;
      if (!one && !repeated && !inside) ++runs;
      if (!one) inside = !repeated;
    }
    if (runs > 1) return No("it repeats an operand along separate dimensions");
    return absl::OkStatus();
  }

  absl::Status EltwiseNode() {
    INGOT_ASSIGN_OR_RETURN(std::vector<PostOp> posts, EltwisePosts(node_));
    if (posts.size() != 1) return No(node_.op->name, " after no product");
    step_.operands.resize(1);
    return SetEltwise(posts[0]);
  }

  absl::Status SetEltwise(const PostOp& post) {
    step_.op = "eltwise";
    step_.attributes["algorithm"] = post.algorithm;
    step_.attributes["alpha"] = post.alpha;
    step_.attributes["beta"] = post.beta;
    return absl::OkStatus();
  }

  const relay::Node& node_;
  const Attrs& attrs_;
  const Bindings& bindings_;
  std::vector<Dims> shapes_;  // of the operands as they are
  Dims result_;
  Step step_;
};

}  // namespace

absl::StatusOr<Dims> ShapeOf(const Value& value) {
  if (value.node == nullptr) return No("an operand is left out");
  const relay::TensorType& type = value.type();
  if (type.dtype != DataType::Float(32)) {
    return No("elements are ", type.dtype.ToString(), "; only f32 is taken");
  }
  std::optional<Dims> shape = relay::ConstShape(type.shape);
  if (!shape) {
    return No("the shape of ", relay::ToString(type),
              " is not known before it runs");
  }
  if (shape->empty()) shape->push_back(1);  // a scalar
  INGOT_RETURN_IF_ERROR(CountElementsOf(*shape).status());
  return *shape;
}

std::vector<std::string> TranslatedOperators() {
  std::vector<std::string> names;
  for (const auto& [name, method] : Translation::Methods()) {
    names.push_back(name);
  }
  return names;
}

absl::StatusOr<Step> TranslateOp(const relay::Node& node,
                                 const Bindings& bindings) {
  return Translation(node, bindings).Run();
}

}  // namespace ingot::dnnl_backend
