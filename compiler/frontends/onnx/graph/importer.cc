#include "compiler/frontends/onnx/graph/importer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/utf8.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/model/newer_fields.h"
#include "compiler/frontends/onnx/model/storage_type.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos) return path.substr(0, slash);
  return path.empty() ? "" : ".";
}

// Says how an output's type differs from the one that the model declares, which
// programs may go by; nothing where it does not.
std::string OtherType(const onnx::ValueInfoProto& output,
                      const Binding& computed) {
  const auto declared =
      ElementTypeFromOnnx(output.type().tensor_type().elem_type());
  const TensorType& type = computed.value.type();
  if (!declared.ok() || type.is_sequence || type.dtype == declared->dtype ||
      computed.storage != declared->storage) {
    return "";
  }
  return absl::StrCat("output '", output.name(), "' is declared as ",
                      declared->dtype.ToString(), ", and its node gives ",
                      type.dtype.ToString());
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

std::string DomainName(const std::string& domain) {
  return domain.empty() ? "ai.onnx" : domain;
}

Importer::Importer(onnx::ModelProto* model, const ImportOptions& options,
                   const ConverterTable& converters)
    : model_(model),
      options_(options),
      model_dir_(FolderOf(options.model_path)),
      converters_(converters) {
  builder_.on_capture = [this](const Value& outer, const Value& inside) {
    if (outer.type().is_sequence) sequence_info(inside) = sequence_info(outer);
  };
}

absl::StatusOr<relay::Module> Importer::Run() {
  if (!model_->has_graph()) {
    return absl::InvalidArgumentError("the model has no graph");
  }
  INGOT_RETURN_IF_ERROR(ReadOpsets());
  INGOT_RETURN_IF_ERROR(CheckNoMaps());
  INGOT_RETURN_IF_ERROR(CheckSupported());
  Scope scope;
  scope.function = builder_.current();
  scope_ = &scope;
  OpenDims();
  INGOT_RETURN_IF_ERROR(BindDimParams());
  INGOT_RETURN_IF_ERROR(PrepareStates());
  INGOT_RETURN_IF_ERROR(AddInputs(&scope));
  INGOT_RETURN_IF_ERROR(AddInitializers(model_->graph(), &scope, true));
  std::vector<std::string> results;
  for (const auto& output : model_->graph().output()) {
    results.push_back(output.name());
  }
  INGOT_ASSIGN_OR_RETURN(std::vector<Binding> found,
                         ImportNodes(PointersTo(model_->graph().node()), &scope,
                                     FindAll(results)));
  for (size_t i = 0; i < results.size(); ++i) {
    if (!found[i].IsLeftOut()) {
      scope.names.emplace(results[i], std::move(found[i]));
    }
  }
  INGOT_RETURN_IF_ERROR(AddOutputs(&scope));
  FinishStates();
  ReadMetadata();
  return std::move(builder_.module());
}

void Importer::ReadMetadata() {
  for (const auto& entry : model_->metadata_props()) {
    if (IsUtf8(entry.key()) && IsUtf8(entry.value())) {
      builder_.module().metadata[entry.key()] = entry.value();
    } else {
      Warn(absl::StrCat("the model's metadata '", absl::CHexEscape(entry.key()),
                        "' is no text (UTF-8); it is left out"));
    }
  }
}

void Importer::Warn(absl::string_view message) {
  if (options_.on_warning != nullptr) options_.on_warning(message);
}

absl::Status Importer::ReadOpsets() {
  if (model_->ir_version() > kNewestIrVersion) {
    Warn(absl::StrCat("the model is a file of ONNX's IR version ",
                      model_->ir_version(), "; the newest known is ",
                      kNewestIrVersion));
  }
  for (const auto& import : model_->opset_import()) {
    const std::string domain = CanonicalDomain(import.domain());
    if (import.version() < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("the model imports operator set ", import.version(),
                       " of ", DomainName(domain), "; there is none below 1"));
    }
    if (domain.empty() && import.version() > kNewestOpset) {
      Warn(absl::StrCat("the model uses ONNX operator set ", import.version(),
                        "; the newest known is ", kNewestOpset,
                        ", as of which its operators are taken"));
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
        CanonicalDomain(f.domain()) == CanonicalDomain(node.domain()) &&
        Overload(f) == Overload(node)) {
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
    auto opset = opsets_.find(domain);
    if (converters_.Find(domain, node.op_type(),
                         opset == opsets_.end() ? 0 : opset->second) ==
            nullptr &&
        FindFunction(node) == nullptr) {
      unsupported_.push_back(absl::StrCat(
          node.op_type(), " (", DomainName(domain), ", operator set ",
          opset == opsets_.end() ? 0 : opset->second, ", node '",
          node.name().empty() ? absl::StrCat(node.op_type(), "_", i)
                              : node.name(),
          "')"));
    }
  }
}

// Says all at once, so that a model need not be fixed one operator at a time.
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
    binding.storage = StorageTypeFromOnnx(tensor.data_type());
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
    if (const std::string other = OtherType(output, *binding); !other.empty()) {
      Warn(other);
    }
    INGOT_ASSIGN_OR_RETURN(value, StateOutput(output.name(), value));
    builder_.function()->outputs.push_back(value);
    builder_.function()->output_names.push_back(output.name());
  }
  for (const std::string& name : options_.extra_outputs) {
    if (!seen.insert(name).second) continue;
    INGOT_ASSIGN_OR_RETURN(Binding * binding, Find(scope, name));
    if (binding == nullptr || IsSequence(*binding)) continue;
    INGOT_ASSIGN_OR_RETURN(Value value, Materialize(binding, name));
    builder_.function()->outputs.push_back(value);
    builder_.function()->output_names.push_back(name);
  }
  return absl::OkStatus();
}

// -------------------------------------------------------------------- bindings

absl::StatusOr<Value> Importer::Materialize(Binding* binding,
                                            absl::string_view name) {
  const bool is_sequence = binding->value && binding->value.type().is_sequence;
  if (binding->value && !is_sequence) return binding->value;
  if (binding->initializer != nullptr) {
    onnx::TensorProto copy;
    onnx::TensorProto* proto = binding->initializer;
    if (!binding->movable) {
      copy = *proto;
      proto = &copy;
    }
    INGOT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(proto, model_dir_));
    binding->value =
        Value{builder_.function()->AddConstant(name, std::move(tensor)), 0};
    return binding->value;
  }
  if (!binding->known) {
    return absl::UnimplementedError(absl::StrCat(
        "'", name, "' is a ", is_sequence ? "sequence or optional" : "sequence",
        " where a tensor is needed"));
  }
  INGOT_ASSIGN_OR_RETURN(binding->value,
                         builder_.Materialize(*binding->known, name));
  return binding->value;
}

const Known* Importer::KnownOf(Binding* binding) {
  if (binding->storage != StorageType::kNone) return nullptr;
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
  binding->known = relay::KnownFromTensor(*binding->value.node->constant);
  return binding->known ? &*binding->known : nullptr;
}

}  // namespace ingot::onnx_frontend
