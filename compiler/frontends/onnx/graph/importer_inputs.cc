// The model's inputs, with the shapes and values that the caller gives for
// them.
#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/model/storage_type.h"
#include "compiler/relay/import/convert_elements.h"
#include "compiler/relay/op.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {

const std::vector<int64_t>* Importer::GivenShape(
    const std::string& input) const {
  auto given = options_.input_shapes.find(input);
  return given == options_.input_shapes.end() ? nullptr : &given->second;
}

// Some exporters write -1 for a dimension that is not known, which ONNX says by
// neither a number nor a name.
void Importer::OpenDims() {
  for (auto& input : *model_->mutable_graph()->mutable_input()) {
    // Asking for a shape that is not there would make one.
    if (!input.type().tensor_type().has_shape()) continue;
    auto* const type = input.mutable_type()->mutable_tensor_type();
    for (auto& dim : *type->mutable_shape()->mutable_dim()) {
      if (dim.has_dim_value() && dim.dim_value() == -1) dim.clear_dim_value();
    }
  }
}

// Values for symbols, from the shapes that the caller gave.
absl::Status Importer::BindDimParams() {
  std::set<std::string> initializers;
  for (const auto& t : model_->graph().initializer()) {
    initializers.insert(t.name());
  }
  std::set<std::string> inputs;
  for (const auto& input : model_->graph().input()) {
    if (initializers.count(input.name()) > 0) continue;
    inputs.insert(input.name());
    const std::vector<int64_t>* given = GivenShape(input.name());
    if (given == nullptr) continue;
    const auto& type = input.type().tensor_type();
    if (!type.has_shape()) continue;
    const std::vector<int64_t>& dims = *given;
    if (static_cast<int>(dims.size()) != type.shape().dim_size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input '", input.name(), "' has ", type.shape().dim_size(),
          " dimensions; the shape given for it has ", dims.size()));
    }
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] == -1) continue;
      const auto& dim = type.shape().dim(static_cast<int>(d));
      if (dims[d] < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("input '", input.name(), "': dimension ", dims[d]));
      }
      if (dim.has_dim_value() && dim.dim_value() != dims[d]) {
        return absl::InvalidArgumentError(absl::StrCat(
            "input '", input.name(), "': dimension ", d, " is ",
            dim.dim_value(), " in the model, ", dims[d], " was given"));
      }
      if (dim.dim_param().empty()) continue;
      auto [it, added] = bound_params_.emplace(dim.dim_param(), dims[d]);
      if (!added && it->second != dims[d]) {
        return absl::InvalidArgumentError(
            absl::StrCat("dimension '", dim.dim_param(), "' was given as ",
                         it->second, " and as ", dims[d]));
      }
    }
  }
  for (const auto& [name, dims] : options_.input_shapes) {
    if (inputs.count(name) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a shape or value was given for '", name,
          "'; the model's inputs are: ", absl::StrJoin(inputs, ", ")));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorType> Importer::InputType(
    const onnx::ValueInfoProto& info) {
  const auto& proto = info.type().tensor_type();
  TensorType type;
  absl::StatusOr<ElementType> element = ElementTypeFromOnnx(proto.elem_type());
  if (!element.ok()) {
    return Annotate(element.status(),
                    absl::StrCat("input '", info.name(), "'"));
  }
  type.dtype = element->dtype;
  const std::vector<int64_t>* dims = GivenShape(info.name());
  if (!proto.has_shape() && dims == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input '", info.name(),
        "' has no shape in the model; give it one (--input-shape)"));
  }
  // So large that it comes from a damaged model; products of a few such
  // numbers still fit in 64 bits.
  constexpr int64_t kLargestDim = int64_t{1} << 40;
  const int rank = proto.has_shape() ? proto.shape().dim_size()
                                     : static_cast<int>(dims->size());
  if (rank > static_cast<int>(relay::kMaxRank)) {
    return absl::InvalidArgumentError(
        absl::StrCat("input '", info.name(), "' has ", rank, " dimensions; ",
                     relay::kMaxRank, " are supported"));
  }
  for (int d = 0; d < rank; ++d) {
    if (dims != nullptr && (*dims)[d] != -1) {
      if ((*dims)[d] < 0 || (*dims)[d] > kLargestDim) {
        return absl::InvalidArgumentError(
            absl::StrCat("input '", info.name(), "': dimension ", (*dims)[d]));
      }
      type.shape.push_back(tir::MakeInt((*dims)[d]));
      continue;
    }
    std::string symbol = absl::StrCat(info.name(), "_d", d);
    if (proto.has_shape()) {
      const auto& dim = proto.shape().dim(d);
      if (dim.has_dim_value()) {
        if (dim.dim_value() < 0 || dim.dim_value() > kLargestDim) {
          return absl::InvalidArgumentError(
              absl::StrCat("input '", info.name(), "': dimension ", d, " is ",
                           dim.dim_value()));
        }
        type.shape.push_back(tir::MakeInt(dim.dim_value()));
        continue;
      }
      if (!dim.dim_param().empty()) symbol = dim.dim_param();
    }
    auto bound = bound_params_.find(symbol);
    if (bound != bound_params_.end()) {
      type.shape.push_back(tir::MakeInt(bound->second));
    } else {
      type.shape.push_back(builder_.module().Symbol(symbol));
    }
  }
  if (element->storage == StorageType::kText) {
    type.shape.push_back(
        builder_.module().Symbol(absl::StrCat(info.name(), "_width")));
  }
  return type;
}

absl::StatusOr<Binding> Importer::TensorInput(
    const onnx::ValueInfoProto& input) {
  INGOT_ASSIGN_OR_RETURN(TensorType type, InputType(input));
  Binding binding;
  binding.storage = StorageTypeFromOnnx(input.type().tensor_type().elem_type());
  binding.value =
      Value{builder_.function()->AddInput(input.name(), std::move(type)), 0};
  return binding;
}

absl::Status Importer::CheckNoMaps() {
  for (const auto& input : model_->graph().input()) {
    const onnx::TypeProto* type = &input.type();
    while (type->has_sequence_type()) type = &type->sequence_type().elem_type();
    if (!type->has_map_type()) continue;
    std::string reader = "the node";
    for (const auto& node : model_->graph().node()) {
      const auto& inputs = node.input();
      if (std::find(inputs.begin(), inputs.end(), input.name()) ==
          inputs.end()) {
        continue;
      }
      reader = absl::StrCat("node '", node.name(), "' (", node.op_type(), ")");
      break;
    }
    return absl::UnimplementedError(absl::StrCat(
        "input '", input.name(), "' is a map, and a function takes tensors: ",
        "export the model without ", reader,
        ", which reads it, and with the tensor that this makes as the input"));
  }
  return absl::OkStatus();
}

absl::Status Importer::AddInputs(Scope* scope) {
  std::set<std::string> initializers;
  for (const auto& t : model_->graph().initializer()) {
    initializers.insert(t.name());
  }
  for (const auto& input : model_->graph().input()) {
    // Up to IR version 3 initialisers are listed among the inputs.
    if (initializers.count(input.name()) > 0) continue;
    const auto state = std::find_if(
        states_.begin(), states_.end(),
        [&](const ImportedState& s) { return s.input == input.name(); });
    INGOT_ASSIGN_OR_RETURN(Binding binding, !input.type().has_tensor_type()
                                                ? AnySequenceInput(input)
                                            : state != states_.end()
                                                ? StateInput(input, &*state)
                                                : TensorInput(input));
    if (input.name().empty() ||
        !scope->names.emplace(input.name(), std::move(binding)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are two inputs named '", input.name(), "'"));
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot::onnx_frontend
