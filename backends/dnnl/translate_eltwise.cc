#include "backends/dnnl/translate_eltwise.h"

#include <cmath>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"

namespace ingot::dnnl_backend {
namespace {

struct Entry {
  const char* relay;
  const char* algorithm;
  double alpha, beta;
};

// Operators without attributes that matter.
constexpr Entry kSimple[] = {
    {"relu", "relu", 0, 0},   {"sigmoid", "logistic", 0, 0},
    {"tanh", "tanh", 0, 0},   {"hard_swish", "hardswish", 0, 0},
    {"mish", "mish", 0, 0},   {"softplus", "soft_relu", 0, 0},
    {"exp", "exp", 0, 0},     {"log", "log", 0, 0},
    {"sqrt", "sqrt", 0, 0},   {"abs", "abs", 0, 0},
    {"round", "round", 0, 0}, {"neg", "linear", -1, 0},
};

// Relay's operators on two tensors, and oneDNN's algorithms.
constexpr std::pair<const char*, const char*> kBinary[] = {
    {"add", "add"}, {"sub", "sub"},     {"mul", "mul"},
    {"div", "div"}, {"maximum", "max"}, {"minimum", "min"},
};

std::vector<PostOp> One(const char* algorithm, double alpha, double beta) {
  return {PostOp{algorithm, alpha, beta, ""}};
}

// Operators whose attributes EltwisePosts reads.
constexpr const char* kWithAttributes[] = {
    "clip", "elu", "gelu", "hard_sigmoid", "leaky_relu", "swish"};

}  // namespace

std::vector<std::string> EltwiseOperators() {
  std::vector<std::string> names(std::begin(kWithAttributes),
                                 std::end(kWithAttributes));
  for (const Entry& entry : kSimple) names.emplace_back(entry.relay);
  return names;
}

absl::StatusOr<std::vector<PostOp>> EltwisePosts(const relay::Node& node) {
  const relay::Attrs& attrs = node.attrs;
  for (const Entry& entry : kSimple) {
    if (node.Is(entry.relay)) {
      return One(entry.algorithm, entry.alpha, entry.beta);
    }
  }
  if (node.Is("leaky_relu")) {
    return One("relu", attrs.Get<double>("alpha"), 0);
  }
  if (node.Is("elu")) {
    return One("elu", attrs.Get<double>("alpha"), 0);
  }
  if (node.Is("swish")) {
    return One("swish", attrs.Get<double>("alpha"), 0);
  }
  if (node.Is("gelu")) {
    const bool tanh = attrs.Get<std::string>("approximate") == "tanh";
    return One(tanh ? "gelu_tanh" : "gelu_erf", 0, 0);
  }
  if (node.Is("hard_sigmoid")) {
    return std::vector<PostOp>{
        {"linear", attrs.Get<double>("alpha"), attrs.Get<double>("beta"), ""},
        {"clip", 0, 1, ""}};
  }
  if (node.Is("clip")) {
    // One limit alone would turn infinity on the other side into a number.
    if (attrs.Has("min") && attrs.Has("max")) {
      const double min = attrs.Get<double>("min");
      const double max = attrs.Get<double>("max");
      if (min <= max && std::isfinite(min) && std::isfinite(max)) {
        return One("clip", min, max);
      }
    } else if (attrs.Has("min") && attrs.Get<double>("min") == 0) {
      return One("relu", 0, 0);
    }
    return absl::UnimplementedError("clip without two limits in order");
  }
  return absl::UnimplementedError(
      absl::StrCat("oneDNN has no operator for ", node.op->name));
}

const std::vector<std::string>& FusedActivations() {
  static const auto* const kNames = new std::vector<std::string>{
      "relu", "clip",       "leaky_relu", "elu",  "sigmoid",     "tanh",
      "gelu", "hard_swish", "swish",      "mish", "hard_sigmoid"};
  return *kNames;
}

std::vector<std::string> BinaryOperators() {
  std::vector<std::string> names;
  for (const auto& [relay, algorithm] : kBinary) names.emplace_back(relay);
  return names;
}

std::optional<std::string> BinaryAlgorithm(const relay::Node& node) {
  for (const auto& [relay, algorithm] : kBinary) {
    if (node.Is(relay)) return algorithm;
  }
  return std::nullopt;
}

std::optional<float> ScalarConstant(const relay::Value& value) {
  if (value.node->kind != relay::NodeKind::kConstant ||
      !value.node->constant.has_value() ||
      value.node->constant->dtype() != DataType::Float(32) ||
      value.node->constant->NumElements() != 1) {
    return std::nullopt;
  }
  const float scalar = value.node->constant->data<float>()[0];
  if (!std::isfinite(scalar)) return std::nullopt;
  return scalar;
}

std::optional<PostOp> LinearPost(absl::string_view binary_algorithm,
                                 float scalar, bool scalar_first) {
  const double s = scalar;
  if (binary_algorithm == "add") return PostOp{"linear", 1, s, ""};
  if (binary_algorithm == "mul") return PostOp{"linear", s, 0, ""};
  if (binary_algorithm == "sub") {
    return scalar_first ? PostOp{"linear", -1, s, ""}
                        : PostOp{"linear", 1, -s, ""};
  }
  return std::nullopt;
}

}  // namespace ingot::dnnl_backend
