// Nodes, one after the other: by their converters, or at once where all that
// they read is known.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "compiler/frontends/onnx/graph/attribute_names.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/relay/op.h"
#include "compiler/tir/expr_size.h"

namespace ingot::onnx_frontend {
namespace {

// Limits of what a small hostile file can make of itself.
constexpr int64_t kMaxNodes = 1000000;

// "node 'a' (Conv): …", unless the message names a node already.
absl::Status AtNode(const absl::Status& status, const std::string& name,
                    const onnx::NodeProto& node) {
  if (status.ok() || absl::StartsWith(status.message(), "node '")) {
    return status;
  }
  return Annotate(status,
                  absl::StrCat("node '", name, "' (", node.op_type(), ")"));
}

}  // namespace

absl::StatusOr<std::vector<Binding>> Importer::ImportNodes(
    absl::Span<const onnx::NodeProto* const> nodes, Scope* scope,
    const Rest& rest) {
  const Scope* const outer = std::exchange(scope_, scope);
  // Also after a failure: a side of a branch may fail and the other not.
  const auto restore = absl::MakeCleanup([&] { scope_ = outer; });
  for (size_t i = 0; i < nodes.size(); ++i) {
    const absl::Status status = ImportNode(*nodes[i], scope);
    if (status.ok()) continue;
    rank_is_open_ = false;
    std::optional<Branch> branch = std::exchange(split_, std::nullopt);
    if (!branch) return status;
    return SplitAt(*nodes[i], *std::move(branch), nodes.subspan(i + 1), scope,
                   rest);
  }
  return rest.import(scope);
}

absl::Status Importer::ImportNode(const onnx::NodeProto& node, Scope* scope) {
  if (++imported_ > kMaxNodes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the model has more than ", kMaxNodes, " nodes"));
  }
  const std::string name =
      node.name().empty() ? absl::StrCat(node.op_type(), "_", imported_ - 1)
                          : node.name();
  // A function that is inlined counts by its parts.
  const onnx::FunctionProto* const function = FindFunction(node);
  if (function == nullptr) {
    builder_.module().model_nodes.push_back({name, node.op_type()});
  }
  std::vector<Binding*> inputs;
  for (const std::string& input : node.input()) {
    Binding* binding = nullptr;
    if (!input.empty()) {
      absl::StatusOr<Binding*> found = Find(scope, input);
      if (!found.ok()) return AtNode(found.status(), name, node);
      binding = *found;
    }
    if (!input.empty() && binding == nullptr) {
      auto missing = missing_outputs_.find(input);
      if (missing != missing_outputs_.end()) {
        return absl::UnimplementedError(missing->second);
      }
      return AtNode(absl::InvalidArgumentError(absl::StrCat(
                        "reads '", input,
                        "', which nothing before it computes (the graph has a "
                        "cycle, is not in order, or misses a tensor)")),
                    name, node);
    }
    if (binding != nullptr && binding->IsLeftOut()) binding = nullptr;
    inputs.push_back(binding);
  }
  const size_t first_new = builder_.function()->nodes().size();
  absl::StatusOr<int> opset = OpsetOf(CanonicalDomain(node.domain()));
  std::vector<Binding> outputs;
  absl::Status status = opset.status();
  if (function != nullptr) {
    absl::StatusOr<std::vector<Binding>> results =
        InlineFunction(*function, node, inputs);
    status = results.status();
    if (results.ok()) outputs = *std::move(results);
  } else if (status.ok()) {
    status = Convert(node, name, *opset, inputs, &outputs);
  }
  if (status.ok()) status = CheckSizes(first_new);
  if (!status.ok()) return AtNode(status, name, node);
  for (size_t i = first_new; i < builder_.function()->nodes().size(); ++i) {
    relay::Node* made = builder_.function()->nodes()[i].get();
    if (made->sources.empty()) made->sources.Add(name);
  }
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& output = node.output(i);
    if (output.empty()) continue;
    const bool defined =
        i < static_cast<int>(outputs.size()) && !outputs[i].IsLeftOut();
    if (!defined) {
      missing_outputs_[output] =
          absl::StrCat("node '", name, "' (", node.op_type(), "): its output ",
                       i, " ('", output, "') is not supported");
      continue;
    }
    if (!scope->names.emplace(output, std::move(outputs[i])).second) {
      return AtNode(absl::InvalidArgumentError(absl::StrCat(
                        "defines '", output, "', which is defined already")),
                    name, node);
    }
  }
  return absl::OkStatus();
}

namespace {

// The operators of ONNX's own domain that exporters compute shapes with. Nodes
// of others stay calls even where all that they read is constant: passes look
// for patterns of them, such as weights that are stored quantised.
constexpr absl::string_view kShapeArithmetic[] = {"Abs",
                                                  "Add",
                                                  "And",
                                                  "Cast",
                                                  "Ceil",
                                                  "Concat",
                                                  "ConstantOfShape",
                                                  "Div",
                                                  "Equal",
                                                  "Expand",
                                                  "Floor",
                                                  "Gather",
                                                  "Greater",
                                                  "GreaterOrEqual",
                                                  "Identity",
                                                  "Less",
                                                  "LessOrEqual",
                                                  "Max",
                                                  "Min",
                                                  "Mod",
                                                  "Mul",
                                                  "Neg",
                                                  "NonZero",
                                                  "Not",
                                                  "Or",
                                                  "Pow",
                                                  "Range",
                                                  "Reciprocal",
                                                  "ReduceMax",
                                                  "ReduceMin",
                                                  "ReduceProd",
                                                  "ReduceSum",
                                                  "Reshape",
                                                  "Round",
                                                  "Shape",
                                                  "Size",
                                                  "Slice",
                                                  "Sqrt",
                                                  "Squeeze",
                                                  "Sub",
                                                  "Transpose",
                                                  "Unsqueeze",
                                                  "Where",
                                                  "Xor"};

// Whether the node may be evaluated while importing.
bool IsShapeArithmetic(const onnx::NodeProto& node) {
  const std::string domain = CanonicalDomain(node.domain());
  return domain.empty() && node.input_size() > 0 &&
         std::binary_search(std::begin(kShapeArithmetic),
                            std::end(kShapeArithmetic), node.op_type());
}

// Fails for attributes that the operator does not have, too, where ONNX itself
// says which it has.
absl::Status RunConverter(const Converter& converter,
                          const onnx::NodeProto& node, NodeContext* context) {
  INGOT_RETURN_IF_ERROR(converter(*context));
  INGOT_RETURN_IF_ERROR(context->status());
  const std::string domain = CanonicalDomain(node.domain());
  if (!domain.empty() && domain != kMlDomain) return absl::OkStatus();
  return CheckAttributeNames(node, context->asked());
}

}  // namespace

std::optional<std::vector<Known>> Importer::EvaluateKnown(
    const onnx::NodeProto& node, const std::string& name, int opset,
    const std::vector<Binding*>& inputs) {
  const Converter* converter =
      converters_.Find(CanonicalDomain(node.domain()), node.op_type(), opset);
  if (converter == nullptr) return std::nullopt;
  // The calls of the node go into a function of their own, which nothing but
  // their values is wanted of.
  relay::Function calls("known");
  relay::OpenFunction open;
  open.function = &calls;
  const relay::ModuleBuilder::Enter enter(&builder_, &open);
  std::vector<Binding> operands(inputs.size());
  std::vector<Binding*> pointers(inputs.size(), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    const Known* known = KnownOf(inputs[i]);
    if (known == nullptr) return std::nullopt;
    operands[i].known = *known;
    pointers[i] = &operands[i];
    const std::string& input = node.input(static_cast<int>(i));
    if (known->AllConstant()) {
      absl::StatusOr<Tensor> tensor = relay::TensorFromKnown(*known);
      if (!tensor.ok()) return std::nullopt;
      operands[i].value = Value{calls.AddConstant(input, *std::move(tensor))};
    } else {
      operands[i].value = Value{calls.AddInput(
          input, TensorType{known->dtype, relay::MakeShape(known->shape)})};
      open.known.Set(operands[i].value, *known);
    }
  }
  NodeContext context(this, node, opset, name, std::move(pointers));
  // Importing the node for good reports what is wrong with it.
  if (!RunConverter(*converter, node, &context).ok()) return std::nullopt;
  std::vector<Known> results;
  for (int i = 0; i < node.output_size(); ++i) {
    if (!context.wants_output(i) || i >= context.num_outputs()) {
      return std::nullopt;
    }
    const Binding& output = context.outputs()[i];
    if (output.storage != StorageType::kNone || IsSequence(output)) {
      return std::nullopt;
    }
    const Known* known = output.known ? &*output.known
                         : output.value.node != nullptr
                             ? open.known.Of(output.value)
                             : nullptr;
    if (known == nullptr) return std::nullopt;
    results.push_back(*known);
  }
  return results;
}

absl::Status Importer::Convert(const onnx::NodeProto& node,
                               const std::string& name, int opset,
                               std::vector<Binding*> inputs,
                               std::vector<Binding>* outputs) {
  const std::string domain = CanonicalDomain(node.domain());
  bool all_known = IsShapeArithmetic(node);
  for (size_t i = 0; domain.empty() && i < inputs.size(); ++i) {
    // Small constants are read here, in the order of the nodes that use them.
    const bool known = inputs[i] == nullptr || KnownOf(inputs[i]) != nullptr;
    all_known = all_known && known;
  }
  if (all_known) {
    std::optional<std::vector<Known>> results =
        EvaluateKnown(node, name, opset, inputs);
    if (results) {
      outputs->resize(results->size());
      for (size_t i = 0; i < results->size(); ++i) {
        (*outputs)[i].known = std::move((*results)[i]);
      }
      return absl::OkStatus();
    }
  }
  const Converter* converter = converters_.Find(domain, node.op_type(), opset);
  if (converter == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("operator ", node.op_type(), " of ", DomainName(domain),
                     ", operator set ", opset, ", is not supported"));
  }
  NodeContext context(this, node, opset, name, std::move(inputs));
  INGOT_RETURN_IF_ERROR(RunConverter(*converter, node, &context));
  *outputs = std::move(context.outputs());
  return absl::OkStatus();
}

// Dimensions that grow without bound would make every later step slower, and
// recursion over them deep.
absl::Status Importer::CheckSizes(size_t first_node) {
  const auto& nodes = builder_.function()->nodes();
  for (size_t i = first_node; i < nodes.size(); ++i) {
    for (const TensorType& type : nodes[i]->outputs) {
      for (const tir::Expr& dim : type.shape) {
        if (ExprSize(dim, relay::kMaxDimSize) > relay::kMaxDimSize) {
          return absl::ResourceExhaustedError(
              "a dimension of its result is too long a formula");
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot::onnx_frontend
