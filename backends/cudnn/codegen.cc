#include "backends/cudnn/codegen.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cudnn/name.h"
#include "backends/cudnn/region.h"
#include "backends/library_calls/number_values.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"
#include "compiler/relay/pattern.h"

namespace ingot {
namespace {

using cudnn::Convolution;
using relay::Node;
using relay::Pattern;
using relay::Value;
using Ints = std::vector<int64_t>;

template <typename... Parts>
absl::Status No(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}

// A composite, as it is computed, with its operands as values; those of the
// convolution have no numbers yet.
struct Call {
  Convolution convolution;
  Value data, kernel, bias, added;
};

// The shape in four dimensions; of height 1 where there are three.
absl::Status ReadShape(const Value& value, std::array<int64_t, 4>* shape) {
  if (codegen::IsHeldByRegion(value)) {
    return No("an operand is a constant of one element");
  }
  if (value.type().dtype != DataType::Float(32)) {
    return No("only f32, not ", relay::ToString(value.type()));
  }
  INGOT_ASSIGN_OR_RETURN(Ints dims, codegen::KnownShape(value.type()));
  if (dims.size() == 3) dims.insert(dims.begin() + 2, 1);
  int64_t elements = 1;
  for (const int64_t dim : dims) {
    if (dim < 1 || dim >= (int64_t{1} << 31) / elements) {
      return No("a value ", relay::ToString(value.type()));
    }
    elements *= dim;
  }
  if (dims.size() != 4) return No("a value ", relay::ToString(value.type()));
  std::copy(dims.begin(), dims.end(), shape->begin());
  return absl::OkStatus();
}

absl::Status ReadConvolution(const Node& node, Call* call) {
  Convolution& c = call->convolution;
  const auto text = [&](const char* name) {
    return node.attrs.Get<std::string>(name);
  };
  const bool is_flat = node.outputs[0].shape.size() == 3;
  if (text("data_layout") != (is_flat ? "NCW" : "NCHW") ||
      text("kernel_layout") != (is_flat ? "OIW" : "OIHW") ||
      node.attrs.Has("out_dtype")) {
    return No("only f32 in plain layouts");
  }
  if (node.attrs.Get<int64_t>("pad_value") != 0) {
    return No("padding that is not 0");
  }
  call->data = node.inputs[0];
  call->kernel = node.inputs[1];
  INGOT_RETURN_IF_ERROR(ReadShape(call->data, &c.data.shape));
  INGOT_RETURN_IF_ERROR(ReadShape(call->kernel, &c.kernel.shape));
  const size_t n = is_flat ? 1 : 2;
  const auto read = [&](const char* name, std::array<int64_t, 2>* out) {
    const Ints values = node.attrs.GetEach(name, n);
    for (size_t d = 0; d < n; ++d) (*out)[d + 2 - n] = values[d];
  };
  read("strides", &c.strides);
  read("dilations", &c.dilations);
  const Ints pads = node.attrs.GetEach("pads", 2 * n);
  for (size_t d = 0; d < n; ++d) {
    if (pads[d] != pads[d + n]) return No("pads that differ before and after");
    if (pads[d] < 0) return No("pads below 0");
    c.pads[d + 2 - n] = pads[d];
  }
  c.groups = node.attrs.Get<int64_t>("groups");
  c.result.shape = cudnn::ResultShape(c);
  std::array<int64_t, 4> result;
  INGOT_RETURN_IF_ERROR(ReadShape(Value{const_cast<Node*>(&node), 0}, &result));
  if (result != c.result.shape) return No("another result than cuDNN's");
  return absl::OkStatus();
}

// The operand of an addition that is not made by one of the nodes.
absl::StatusOr<Value> AddedBy(const Node& add,
                              const std::vector<Node*>& nodes) {
  Value found;
  for (const Value& input : add.inputs) {
    const bool is_inside =
        std::find(nodes.begin(), nodes.end(), input.node) != nodes.end();
    if (is_inside) continue;
    if (found) return No("an addition of two other values");
    found = input;
  }
  if (!found) return No("a result is added to itself");
  return found;
}

// The first addition is a bias; another one adds a tensor.
absl::StatusOr<Call> ReadCall(const std::vector<Node*>& nodes) {
  Call call;
  for (const Node* node : nodes) {
    if (node->Is("conv1d") || node->Is("conv2d")) {
      INGOT_RETURN_IF_ERROR(ReadConvolution(*node, &call));
    } else if (node->Is("add")) {
      INGOT_ASSIGN_OR_RETURN(const Value other, AddedBy(*node, nodes));
      INGOT_ASSIGN_OR_RETURN(const Ints shape,
                             codegen::KnownShape(other.type()));
      INGOT_ASSIGN_OR_RETURN(const Ints result,
                             codegen::KnownShape(node->outputs[0]));
      INGOT_ASSIGN_OR_RETURN(const Ints convolved,
                             codegen::KnownShape(nodes[0]->outputs[0]));
      if (result != convolved || codegen::IsHeldByRegion(other)) {
        return No("an addend ", relay::ToString(other.type()));
      }
      if (!call.bias) {
        if (shape == result || !codegen::RunsAlong(shape, result, 1)) {
          return No("a bias ", relay::ToString(other.type()));
        }
        call.bias = other;
      } else {
        if (shape != result) {
          return No("an addend ", relay::ToString(other.type()));
        }
        call.added = other;
      }
    } else if (node->Is("relu")) {
      call.convolution.relu = true;
    } else {
      return No("only convolutions");
    }
  }
  if (!call.bias && call.convolution.relu) return No("a relu without a bias");
  return call;
}

absl::Status CheckNodes(const Target&, absl::Span<Node* const> nodes) {
  return ReadCall({nodes.begin(), nodes.end()}).status();
}

absl::Status Supports(const Target&, const Node& node) {
  return ReadCall({const_cast<Node*>(&node)}).status();
}

absl::StatusOr<CodegenResult> Generate(const Target&,
                                       const relay::Module& module,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  cudnn::Region made;
  const absl::Status numbered = library_calls::ValueNumbers::Number(
      module, region, symbol, &made,
      [&](const library_calls::ValueNumbers& numbers,
          const codegen::RegionCall& nodes, int64_t result) -> absl::Status {
        INGOT_ASSIGN_OR_RETURN(Call call, ReadCall(nodes.nodes));
        Convolution& c = call.convolution;
        c.data.value = numbers.Of(nodes, call.data);
        c.kernel.value = numbers.Of(nodes, call.kernel);
        c.result.value = result;
        if (call.bias) c.bias = numbers.Of(nodes, call.bias);
        if (call.added) c.added = numbers.Of(nodes, call.added);
        made.convolutions.push_back(c);
        return absl::OkStatus();
      });
  if (!numbered.ok()) {
    return Annotate(numbered, absl::StrCat("region ", region.name));
  }
  CodegenResult result;
  codegen::AddArtifact(cudnn::kName, cudnn::kName,
                       absl::StrCat(symbol, ".convolutions"),
                       cudnn::WriteRegion(made), &result);
  return result;
}

}  // namespace

absl::Status RegisterCudnnTarget(TargetRegistry* registry) {
  const Pattern convolution =
      Pattern::Op({"conv1d", "conv2d"}, {Pattern::Any(), Pattern::Any()});
  const Pattern biased = Pattern::Op({"add"}, {convolution, Pattern::Any()});
  TargetKind kind;
  kind.name = cudnn::kName;
  kind.doc = "convolutions by NVIDIA's cuDNN, beside cuda";
  kind.loaders = {cudnn::kName};
  kind.device = cudnn::kDevice;
  kind.patterns = {
      {"convolution_sum",
       Pattern::Maybe({"relu"}, Pattern::Op({"add"}, {biased, Pattern::Any()})),
       CheckNodes},
      {"convolution_bias", Pattern::Maybe({"relu"}, biased), CheckNodes},
  };
  kind.operators = {"conv1d", "conv2d"};
  kind.supports = Supports;
  kind.relay_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot
