#include "compiler/frontends/onnx/graph/sequences.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/model/storage_type.h"
#include "compiler/relay/import/convert_elements.h"

namespace ingot::onnx_frontend {

ElementShape ElementShape::Of(const Shape& shape) {
  ElementShape known;
  known.none = false;
  known.dims.emplace();
  for (const tir::Expr& dim : shape) {
    int64_t extent = -1;
    tir::AsConstInt(dim, &extent);
    known.dims->push_back(extent);
  }
  return known;
}

ElementShape ElementShape::Of(const onnx::TypeProto::Tensor& type) {
  ElementShape known;
  known.none = false;
  if (!type.has_shape()) return known;
  known.dims.emplace();
  for (const auto& dim : type.shape().dim()) {
    const bool fixed = dim.has_dim_value() && dim.dim_value() >= 0;
    known.dims->push_back(fixed ? dim.dim_value() : -1);
  }
  return known;
}

ElementShape ElementShape::Join(const ElementShape& a, const ElementShape& b) {
  if (a.none) return b;
  if (b.none) return a;
  ElementShape both;
  both.none = false;
  if (!a.dims || !b.dims || a.dims->size() != b.dims->size()) return both;
  both.dims = a.dims;
  for (size_t d = 0; d < both.dims->size(); ++d) {
    if ((*a.dims)[d] != (*b.dims)[d]) (*both.dims)[d] = -1;
  }
  return both;
}

SequenceInfo SequenceInfo::Join(const SequenceInfo& a, const SequenceInfo& b) {
  return {ElementShape::Join(a.shape, b.shape),
          a.optional_tensor || b.optional_tensor};
}

absl::StatusOr<DeclaredSequence> DeclaredSequence::Of(
    const onnx::TypeProto& type) {
  DeclaredSequence sequence;
  const onnx::TypeProto* inner = &type;
  if (type.has_optional_type()) {
    inner = &type.optional_type().elem_type();
    sequence.info.optional_tensor = inner->has_tensor_type();
  }
  if (inner->has_sequence_type()) inner = &inner->sequence_type().elem_type();
  if (!inner->has_tensor_type()) {
    return absl::UnimplementedError(
        "it is neither a tensor, nor a sequence of tensors, nor an optional "
        "one of these");
  }
  INGOT_ASSIGN_OR_RETURN(const ElementType element,
                         ElementTypeFromOnnx(inner->tensor_type().elem_type()));
  if (element.storage != StorageType::kNone) {
    return absl::UnimplementedError(
        "sequences and optional values of such elements are not supported");
  }
  sequence.dtype = element.dtype;
  sequence.info.shape = ElementShape::Of(inner->tensor_type());
  return sequence;
}

absl::Status ReturnSequence(NodeContext& c, absl::string_view op,
                            std::vector<Value> inputs, Attrs attrs,
                            SequenceInfo info) {
  INGOT_ASSIGN_OR_RETURN(Value sequence,
                         c.Emit(op, std::move(inputs), std::move(attrs)));
  c.importer()->sequence_info(sequence) = std::move(info);
  c.SetOutput(0, sequence);
  return absl::OkStatus();
}

absl::Status ReturnFromSequence(NodeContext& c, absl::string_view op,
                                std::vector<Value> inputs, Attrs attrs,
                                const std::vector<int64_t>& dims) {
  Importer* importer = c.importer();
  Shape shape;
  for (int64_t dim : dims) {
    shape.push_back(dim >= 0
                        ? tir::MakeInt(dim)
                        : importer->builder().module().RunTimeSymbol(c.name()));
  }
  attrs.Set("shape", std::move(shape));
  INGOT_ASSIGN_OR_RETURN(
      relay::Node * node,
      importer->builder().function()->AddOp(op, c.name(), std::move(inputs),
                                            std::move(attrs)));
  importer->builder().DeclareSymbols(node);
  c.SetOutput(0, Value{node, 0});
  return absl::OkStatus();
}

// -------------------------------------------------------------------- importer

bool IsSequence(const Binding& binding) {
  return binding.sequence != nullptr || binding.optional ||
         (binding.value && binding.value.type().is_sequence);
}

absl::StatusOr<Value> Importer::MaterializeSequence(Binding* binding,
                                                    absl::string_view name) {
  if (binding->value && binding->value.type().is_sequence)
    return binding->value;
  std::vector<Binding> tensors;
  SequenceInfo info;
  DataType dtype;
  if (binding->sequence != nullptr) {
    tensors = binding->sequence->tensors;
    dtype = binding->sequence->dtype;
  } else if (binding->optional) {
    tensors.push_back(*binding);
    tensors.back().optional = false;
    info.optional_tensor = true;
  } else {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", name, "' is a tensor where a sequence or an optional is needed"));
  }
  std::vector<Value> values;
  for (Binding& tensor : tensors) {
    if (tensor.storage != StorageType::kNone) {
      return absl::UnimplementedError(absl::StrCat(
          "'", name, "' has elements of a type that sequences cannot have"));
    }
    INGOT_ASSIGN_OR_RETURN(Value value, Materialize(&tensor, name));
    info.shape =
        ElementShape::Join(info.shape, ElementShape::Of(ShapeOf(value)));
    dtype = value.type().dtype;
    values.push_back(value);
  }
  INGOT_ASSIGN_OR_RETURN(
      relay::Node * node,
      builder_.function()->AddOp("sequence_make", name, std::move(values),
                                 Attrs{{"dtype", dtype}}));
  const Value sequence{node, 0};
  sequence_info(sequence) = std::move(info);
  // An optional value keeps its tensor, which is the better one to work with.
  if (!binding->optional) binding->value = sequence;
  return sequence;
}

absl::StatusOr<Value> Importer::MaterializeAny(Binding* binding,
                                               absl::string_view name) {
  return IsSequence(*binding) ? MaterializeSequence(binding, name)
                              : Materialize(binding, name);
}

absl::StatusOr<Binding> Importer::AnySequenceInput(
    const onnx::ValueInfoProto& info) {
  absl::StatusOr<DeclaredSequence> sequence = DeclaredSequence::Of(info.type());
  if (!sequence.ok()) {
    return Annotate(sequence.status(),
                    absl::StrCat("input '", info.name(), "'"));
  }
  if (GivenShape(info.name()) != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("a shape or value was given for '", info.name(),
                     "', which is no tensor"));
  }
  Binding binding;
  binding.value = Value{builder_.function()->AddInput(
                            info.name(), relay::SequenceType(sequence->dtype)),
                        0};
  sequence_info(binding.value) = sequence->info;
  return binding;
}

}  // namespace ingot::onnx_frontend
