#include "compiler/frontends/onnx/importer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/frontends/onnx/converters.h"
#include "compiler/frontends/onnx/elements.h"
#include "compiler/frontends/onnx/tensor_proto.h"
#include "compiler/relay/op.h"
#include "compiler/tir/expr_size.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

// Limits of what a small hostile file can make of itself.
constexpr int64_t kMaxNodes = 1000000;

std::string DomainName(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx" ? "ai.onnx" : domain;
}

// "node 'a' (Conv): …", unless the message names a node already.
absl::Status AtNode(const absl::Status& status, const std::string& name,
                    const onnx::NodeProto& node) {
  if (status.ok() || absl::StartsWith(status.message(), "node '")) {
    return status;
  }
  return absl::Status(status.code(),
                      absl::StrCat("node '", name, "' (", node.op_type(),
                                   "): ", status.message()));
}

}  // namespace

std::vector<const onnx::NodeProto*> PointersTo(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  std::vector<const onnx::NodeProto*> pointers;
  for (const onnx::NodeProto& node : nodes) pointers.push_back(&node);
  return pointers;
}

std::string CanonicalDomain(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

absl::StatusOr<relay::Module> Importer::Run() {
  if (!model_->has_graph()) {
    return absl::InvalidArgumentError("the model has no graph");
  }
  INGOT_RETURN_IF_ERROR(ReadOpsets());
  INGOT_RETURN_IF_ERROR(CheckSupported());
  main_.function = module_.AddFunction("main");
  Scope scope;
  scope.region = &main_;
  scope_ = &scope;
  INGOT_RETURN_IF_ERROR(BindDimParams());
  INGOT_RETURN_IF_ERROR(AddInputs(&scope));
  INGOT_RETURN_IF_ERROR(AddInitializers(model_->graph(), &scope, true));
  std::vector<std::string> results;
  for (const auto& output : model_->graph().output()) {
    results.push_back(output.name());
  }
  INGOT_RETURN_IF_ERROR(
      ImportNodes(PointersTo(model_->graph().node()), results, &scope));
  INGOT_RETURN_IF_ERROR(AddOutputs(&scope));
  region_->function->RemoveDead();
  return std::move(module_);
}

absl::Status Importer::ReadOpsets() {
  for (const auto& import : model_->opset_import()) {
    const std::string domain = CanonicalDomain(import.domain());
    if (import.version() < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "operator set ", import.version(), " of ", DomainName(domain)));
    }
    if (domain.empty() && import.version() > kNewestOpset) {
      return absl::UnimplementedError(
          absl::StrCat("the model uses ONNX operator set ", import.version(),
                       "; the newest known is ", kNewestOpset));
    }
    opsets_[domain] =
        static_cast<int>(std::min<int64_t>(import.version(), 1 << 20));
  }
  // IR versions 1 and 2 name no operator sets and mean the first.
  if (opsets_.empty() && model_->ir_version() < 3) opsets_[""] = 1;
  return absl::OkStatus();
}

absl::StatusOr<int> Importer::OpsetOf(const std::string& domain) const {
  auto it = opsets_.find(domain);
  if (it == opsets_.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the model imports no operator set of ", DomainName(domain)));
  }
  return it->second;
}

// -------------------------------------------------------------- unsupported
// ops

const onnx::FunctionProto* Importer::FindFunction(
    const onnx::NodeProto& node) const {
  for (const onnx::FunctionProto& f : model_->functions()) {
    if (f.name() == node.op_type() &&
        CanonicalDomain(f.domain()) == CanonicalDomain(node.domain())) {
      return &f;
    }
  }
  return nullptr;
}

void Importer::FindUnsupported(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  for (int i = 0; i < nodes.size(); ++i) {
    const onnx::NodeProto& node = nodes.Get(i);
    const std::string domain = CanonicalDomain(node.domain());
    if (AllConverters().Find(domain, node.op_type()) == nullptr &&
        FindFunction(node) == nullptr &&
        !(domain.empty() && IsShapeArithmetic(node.op_type()))) {
      auto opset = opsets_.find(domain);
      unsupported_.push_back(absl::StrCat(
          node.op_type(), " (", DomainName(domain), ", operator set ",
          opset == opsets_.end() ? 0 : opset->second, ", node '",
          node.name().empty() ? absl::StrCat(node.op_type(), "_", i)
                              : node.name(),
          "')"));
    }
  }
}

// Says all at once, so that nobody has to fix a model one operator at a time.
// Operators inside branches count when the branch is imported.
absl::Status Importer::CheckSupported() {
  FindUnsupported(model_->graph().node());
  if (unsupported_.empty()) return absl::OkStatus();
  constexpr size_t kShown = 20;
  const size_t count = unsupported_.size();
  if (count > kShown) {
    unsupported_.resize(kShown);
    unsupported_.push_back(absl::StrCat("and ", count - kShown, " more"));
  }
  return absl::UnimplementedError(
      absl::StrCat("the model uses operators that are not supported: ",
                   absl::StrJoin(unsupported_, ", ")));
}

absl::Status Importer::AddInitializers(const onnx::GraphProto& graph,
                                       Scope* scope, bool movable) {
  for (const auto& tensor : graph.initializer()) {
    Binding binding;
    // Graphs are reached through const references, but the model is ours; a
    // graph imported once may give its data away.
    binding.initializer = const_cast<onnx::TensorProto*>(&tensor);
    binding.movable = movable;
    if (IsStoredType(tensor.data_type())) binding.stored = tensor.data_type();
    if (tensor.name().empty() ||
        !scope->names.emplace(tensor.name(), std::move(binding)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("value '", tensor.name(), "' is defined twice"));
    }
  }
  if (graph.sparse_initializer_size() > 0) {
    return absl::UnimplementedError("sparse initialisers are not supported");
  }
  return absl::OkStatus();
}

absl::Status Importer::AddOutputs(Scope* scope) {
  if (model_->graph().output_size() == 0) {
    return absl::InvalidArgumentError("the model has no outputs");
  }
  std::set<std::string> seen;
  for (const auto& output : model_->graph().output()) {
    if (!seen.insert(output.name()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("output '", output.name(), "' is listed twice"));
    }
    INGOT_ASSIGN_OR_RETURN(Binding * binding, Find(scope, output.name()));
    if (binding == nullptr) {
      auto missing = missing_outputs_.find(output.name());
      if (missing != missing_outputs_.end()) {
        return absl::UnimplementedError(missing->second);
      }
      return absl::InvalidArgumentError(
          absl::StrCat("output '", output.name(), "' is computed by no node"));
    }
    INGOT_ASSIGN_OR_RETURN(Value value, MaterializeAny(binding, output.name()));
    region_->function->outputs.push_back(value);
    region_->function->output_names.push_back(output.name());
  }
  for (const std::string& name : options_.extra_outputs) {
    if (!seen.insert(name).second) continue;
    INGOT_ASSIGN_OR_RETURN(Binding * binding, Find(scope, name));
    if (binding == nullptr || IsList(*binding)) continue;
    INGOT_ASSIGN_OR_RETURN(Value value, Materialize(binding, name));
    region_->function->outputs.push_back(value);
    region_->function->output_names.push_back(name);
  }
  return absl::OkStatus();
}

// -------------------------------------------------------------------- bindings

absl::StatusOr<Value> Importer::Materialize(Binding* binding,
                                            absl::string_view name) {
  const bool is_list = binding->value && binding->value.type().is_list;
  if (binding->value && !is_list) return binding->value;
  if (binding->initializer != nullptr) {
    onnx::TensorProto copy;
    onnx::TensorProto* proto = binding->initializer;
    if (!binding->movable) {
      copy = *proto;
      proto = &copy;
    }
    INGOT_ASSIGN_OR_RETURN(Tensor tensor,
                           TensorFromProto(proto, options_.model_dir));
    binding->value =
        Value{region_->function->AddConstant(name, std::move(tensor)), 0};
    return binding->value;
  }
  if (!binding->known) {
    return absl::UnimplementedError(absl::StrCat(
        "'", name, "' is a ", is_list ? "sequence or optional" : "sequence",
        " where a tensor is needed"));
  }
  const Known& known = *binding->known;
  if (known.AllConstant()) {
    INGOT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromKnown(known));
    binding->value =
        Value{region_->function->AddConstant(name, std::move(tensor)), 0};
    return binding->value;
  }
  if (!known.AllIntegers()) {
    return absl::UnimplementedError(
        absl::StrCat("'", name, "' mixes symbols and fractions"));
  }
  Attrs attrs;
  const Shape values = known.Integers();
  attrs.Set("values", values);
  attrs.Set("shape", known.shape);
  attrs.Set("dtype", known.dtype);
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> carriers, Carriers(values));
  INGOT_ASSIGN_OR_RETURN(
      relay::Node * node,
      region_->function->AddOp("dims", name, std::move(carriers),
                               std::move(attrs)));
  binding->value = Value{node, 0};
  return binding->value;
}

const Known* Importer::KnownOf(Binding* binding) {
  if (binding->stored != 0) return nullptr;
  if (binding->known) return &*binding->known;
  if (binding->initializer != nullptr && !binding->value) {
    const onnx::TensorProto& proto = *binding->initializer;
    int64_t count = 1;
    for (int64_t d : proto.dims()) {
      if (d < 0 || d > 4096) return nullptr;
      count *= d;
      if (count > 4096) return nullptr;
    }
    if (!Materialize(binding, proto.name()).ok()) return nullptr;
  }
  if (!binding->value || binding->value.node == nullptr ||
      !binding->value.node->constant) {
    return nullptr;
  }
  binding->known = KnownFromTensor(*binding->value.node->constant);
  return binding->known ? &*binding->known : nullptr;
}

// ----------------------------------------------------------------------- nodes

absl::Status Importer::ImportNodes(
    absl::Span<const onnx::NodeProto* const> nodes,
    const std::vector<std::string>& results, Scope* scope) {
  const Scope* outer = scope_;
  scope_ = scope;
  absl::Status status;
  for (size_t i = 0; i < nodes.size() && status.ok(); ++i) {
    status = ImportNode(*nodes[i], scope);
    if (!status.ok() && std::exchange(split_, false)) {
      status = SplitAt(*nodes[i], nodes.subspan(i + 1), results, scope);
      break;
    }
  }
  // Restored after a failure too: a branch may fail and its other side not.
  scope_ = outer;
  return status;
}

absl::Status Importer::ImportNode(const onnx::NodeProto& node, Scope* scope) {
  if (++imported_ > kMaxNodes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the model has more than ", kMaxNodes, " nodes"));
  }
  const std::string name =
      node.name().empty() ? absl::StrCat(node.op_type(), "_", imported_ - 1)
                          : node.name();
  // What is inlined counts by its parts.
  const onnx::FunctionProto* const function = FindFunction(node);
  if (function == nullptr) {
    module_.model_nodes.push_back({name, node.op_type()});
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
    inputs.push_back(binding);
  }
  const size_t first_new = region_->function->nodes().size();
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
  for (size_t i = first_new; i < region_->function->nodes().size(); ++i) {
    relay::Node* made = region_->function->nodes()[i].get();
    if (made->sources.empty()) made->sources.push_back(name);
  }
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& output = node.output(i);
    if (output.empty()) continue;
    const bool defined =
        i < static_cast<int>(outputs.size()) &&
        (outputs[i].value || outputs[i].known || outputs[i].sequence);
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

absl::Status Importer::Convert(const onnx::NodeProto& node,
                               const std::string& name, int opset,
                               std::vector<Binding*> inputs,
                               std::vector<Binding>* outputs) {
  const std::string domain = CanonicalDomain(node.domain());
  if (domain.empty()) {
    std::vector<const Known*> known;
    std::vector<const Shape*> shapes;
    std::vector<Shape> known_shapes(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      Binding* b = inputs[i];
      known.push_back(b == nullptr ? nullptr : KnownOf(b));
      if (b != nullptr && b->initializer != nullptr && !b->value &&
          node.op_type() == "Shape") {
        INGOT_RETURN_IF_ERROR(Materialize(b, node.input(i)).status());
      }
      const Shape* shape = nullptr;
      if (b != nullptr && b->value && !IsList(*b)) {
        shape = &b->value.type().shape;
        if (b->stored == kTextType) {  // without the bytes of each string
          known_shapes[i].assign(shape->begin(), shape->end() - 1);
          shape = &known_shapes[i];
        }
      } else if (known.back() != nullptr) {
        known_shapes[i] = relay::MakeShape(known.back()->shape);
        shape = &known_shapes[i];
      }
      shapes.push_back(shape);
    }
    std::optional<std::vector<Known>> results =
        EvaluateKnown(node, opset, known, shapes);
    if (results) {
      outputs->resize(node.output_size());
      for (size_t i = 0; i < results->size(); ++i) {
        for (const KnownNumber& v : (*results)[i].values) {
          if (v.integer != nullptr &&
              ExprSize(v.integer, relay::kMaxDimSize) > relay::kMaxDimSize) {
            return absl::ResourceExhaustedError(
                "computes a dimension by too long a formula");
          }
        }
        (*outputs)[i].known = std::move((*results)[i]);
      }
      return absl::OkStatus();
    }
  }
  const Converter* converter = AllConverters().Find(domain, node.op_type());
  if (converter == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("operator ", node.op_type(), " of ", DomainName(domain),
                     ", operator set ", opset, ", is not supported"));
  }
  NodeContext context(this, node, opset, name, std::move(inputs));
  INGOT_RETURN_IF_ERROR((*converter)(context));
  INGOT_RETURN_IF_ERROR(context.status());
  *outputs = std::move(context.outputs());
  return absl::OkStatus();
}

// Dimensions that grow without bound would make every later step slower, and
// recursion over them deep.
absl::Status Importer::CheckSizes(size_t first_node) const {
  const auto& nodes = region_->function->nodes();
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
