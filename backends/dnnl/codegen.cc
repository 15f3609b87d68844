#include "backends/dnnl/codegen.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/dnnl/graph.h"
#include "backends/dnnl/translate.h"
#include "backends/dnnl/translate_eltwise.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"
#include "compiler/relay/pattern.h"

namespace ingot {
namespace dnnl_backend {
namespace {

// Makes the graph of one region.
class GraphMaker {
 public:
  GraphMaker(const relay::Module& module, const relay::Function& region,
             absl::string_view symbol)
      : module_(module), region_(region) {
    graph_.symbol = std::string(symbol);
  }

  absl::StatusOr<Graph> Run() {
    for (relay::Node* input : region_.inputs) {
      INGOT_ASSIGN_OR_RETURN(std::string name,
                             Declare(relay::Value{input, 0}, input->name));
      graph_.inputs.push_back(name);
    }
    for (const auto& node : region_.nodes()) {
      if (node->kind == relay::NodeKind::kOp ||
          node->kind == relay::NodeKind::kCallFunction) {
        INGOT_RETURN_IF_ERROR(InNode(*node, AddNode(*node)));
      }
    }
    for (const relay::Value& output : region_.outputs) {
      INGOT_ASSIGN_OR_RETURN(Dims shape, ShapeOf(output));
      INGOT_ASSIGN_OR_RETURN(std::string name, Read({output, shape}));
      graph_.outputs.push_back(std::move(name));
    }
    INGOT_RETURN_IF_ERROR(CheckGraph(graph_));
    return std::move(graph_);
  }

 private:
  static absl::Status InNode(const relay::Node& node,
                             const absl::Status& status) {
    return Annotate(status, absl::StrCat("node ", node.name));
  }

  absl::Status AddNode(const relay::Node& node) {
    const codegen::RegionCall call = codegen::ReadCall(module_, node);
    INGOT_ASSIGN_OR_RETURN(Step step,
                           TranslateComposite(call.nodes, call.arguments));
    // The value inside gets a new tensor with every call of a composite.
    INGOT_RETURN_IF_ERROR(AddStep(step, node));
    names_[relay::Value{const_cast<relay::Node*>(&node), 0}] =
        names_.at(step.output);
    return absl::OkStatus();
  }

  // `step` is the translation of `call`.
  absl::Status AddStep(const Step& step, const relay::Node& call) {
    Node node;
    node.name = call.name;
    node.op = step.op;
    node.attributes = step.attributes;
    for (const Operand& operand : step.operands) {
      INGOT_ASSIGN_OR_RETURN(std::string name, Read(operand));
      node.inputs.push_back(std::move(name));
    }
    for (const Post& post : step.posts) {
      PostOp op = post.op;
      if (post.add.node != nullptr) {
        INGOT_ASSIGN_OR_RETURN(Dims shape, ShapeOf(post.add));
        INGOT_ASSIGN_OR_RETURN(op.add, Read({post.add, shape}));
      }
      node.post_ops.push_back(std::move(op));
    }
    INGOT_ASSIGN_OR_RETURN(node.output, Declare(step.output, call.name));
    graph_.nodes.push_back(std::move(node));
    return absl::OkStatus();
  }

  static absl::StatusOr<Dims> ShapeOf(const relay::Value& value) {
    std::optional<Dims> shape = relay::ConstShape(value.type().shape);
    if (!shape) {
      return absl::InternalError(absl::StrCat(
          "the shape of ", relay::ToString(value.type()), " is symbolic"));
    }
    if (shape->empty()) shape->push_back(1);
    return *shape;
  }

  std::string UniqueName(const std::string& stem) {
    std::string name = stem;
    for (int i = 1; graph_.tensors.count(name) > 0; ++i) {
      name = absl::StrCat(stem, "_", i);
    }
    return name;
  }

  absl::StatusOr<std::string> Declare(const relay::Value& value,
                                      const std::string& stem) {
    INGOT_ASSIGN_OR_RETURN(Dims shape, ShapeOf(value));
    const std::string name = UniqueName(stem);
    graph_.tensors[name] = TensorDecl{std::move(shape), ""};
    names_[value] = name;
    return name;
  }

  // The tensor with the value in the operand's shape, declared or made now.
  absl::StatusOr<std::string> Read(const Operand& operand) {
    const relay::Node& node = *operand.value.node;
    if (node.kind == relay::NodeKind::kConstant) {
      const auto key = std::make_pair(operand.value, operand.shape);
      auto it = constants_.find(key);
      if (it != constants_.end()) return it->second;
      const auto* const constant = node.attrs.Find<std::string>("constant");
      if (constant == nullptr) {
        return absl::InternalError(
            absl::StrCat("constant ", node.name, " has no key"));
      }
      const std::string name = UniqueName(node.name);
      graph_.tensors[name] = TensorDecl{operand.shape, *constant};
      return constants_[key] = name;
    }
    auto it = names_.find(operand.value);
    if (it == names_.end()) {
      return absl::InternalError(
          absl::StrCat("value ", node.name, " comes from nowhere"));
    }
    if (graph_.shape(it->second) == operand.shape) return it->second;
    Node view;
    view.op = "reshape";
    view.name = absl::StrCat(it->second, " as operand");
    view.inputs = {it->second};
    view.attributes["shape"] = operand.shape;
    view.output = UniqueName(it->second);
    graph_.tensors[view.output] = TensorDecl{operand.shape, ""};
    graph_.nodes.push_back(view);
    return view.output;
  }

  const relay::Module& module_;
  const relay::Function& region_;
  Graph graph_;
  std::map<relay::Value, std::string> names_;
  std::map<std::pair<relay::Value, Dims>, std::string> constants_;
};

// Moves elements and computes nothing.
bool IsView(absl::string_view op) {
  return op == "reshape" || op == "transpose" || op == "slice";
}

absl::Status Supports(const Target&, const relay::Node& node) {
  INGOT_ASSIGN_OR_RETURN(Step step, TranslateOp(node));
  // Views cost nothing between oneDNN's operators. Of what others compute they
  // would be copies.
  const relay::Node* source = &node;
  while (IsView(step.op)) {
    source = source->inputs[0].node;
    if (source->kind != relay::NodeKind::kOp) {
      return absl::UnimplementedError("it only moves what is computed outside");
    }
    INGOT_ASSIGN_OR_RETURN(step, TranslateOp(*source));
  }
  return absl::OkStatus();
}

absl::Status CheckComposite(const Target&,
                            absl::Span<relay::Node* const> nodes) {
  return TranslateComposite(nodes).status();
}

std::vector<CompositePattern> Patterns() {
  using relay::Pattern;
  const std::vector<std::string>& activations = FusedActivations();
  std::vector<CompositePattern> patterns;
  // With a bias, another tensor and an activation; then without the tensor;
  // then with factors and terms that are single numbers.
  auto add = [&](const std::string& name, const Pattern& product) {
    const Pattern biased =
        Pattern::Maybe({"add"}, product, {Pattern::Constant()});
    patterns.push_back(
        {absl::StrCat(name, "_sum"),
         Pattern::Maybe(activations,
                        Pattern::Op({"add"}, {biased, Pattern::Any()})),
         &CheckComposite});
    patterns.push_back(
        {name, Pattern::Maybe(activations, biased), &CheckComposite});
    patterns.push_back(
        {absl::StrCat(name, "_scaled"),
         Pattern::Maybe(
             activations,
             Pattern::Op({"add", "sub", "mul"}, {biased, Pattern::Constant()})),
         &CheckComposite});
  };
  add("conv", Pattern::Op({"conv1d", "conv2d", "conv3d"},
                          {Pattern::Any(), Pattern::Any()}));
  add("product",
      Pattern::Op({"dense", "matmul"}, {Pattern::Any(), Pattern::Any()}));
  patterns.push_back(
      {"binary_activation",
       Pattern::Op(activations,
                   {Pattern::Op({"add", "sub", "mul"},
                                {Pattern::Any(), Pattern::Any()})}),
       &CheckComposite});
  return patterns;
}

absl::StatusOr<CodegenResult> RelayToRuntime(const Target& target,
                                             const relay::Module& module,
                                             const relay::Function& region,
                                             absl::string_view symbol) {
  absl::StatusOr<Graph> graph = GraphMaker(module, region, symbol).Run();
  if (!graph.ok()) {
    return Annotate(graph.status(), absl::StrCat("region ", region.name));
  }
  CodegenResult result;
  codegen::AddArtifact(kName, kName, absl::StrCat(symbol, ".dnnl.json"),
                       WriteGraph(*graph), &result);
  return result;
}

}  // namespace
}  // namespace dnnl_backend

absl::Status RegisterDnnlTarget(TargetRegistry* registry) {
  TargetKind kind;
  kind.name = dnnl_backend::kName;
  kind.doc =
      "graphs of oneDNN operators; oneDNN compiles them when they are loaded";
  kind.loaders = {dnnl_backend::kName};
  // The loader reads weights as they are and lays them out for the machine
  // that it is on.
  kind.constant_updater = [](const Target&, relay::Function*) {
    return absl::OkStatus();
  };
  kind.relay_to_runtime = &dnnl_backend::RelayToRuntime;
  kind.patterns = dnnl_backend::Patterns();
  kind.operators = dnnl_backend::TranslatedOperators();
  kind.supports = &dnnl_backend::Supports;
  return registry->Register(std::move(kind));
}

}  // namespace ingot
