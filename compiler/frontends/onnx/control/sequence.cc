// Sequences and optional values. Where importing knows a sequence's tensors and
// the positions in it, no trace of it is left in the module; else it is a
// sequence, and the operator a step of a run.
#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/graph/sequences.h"
#include "compiler/frontends/onnx/model/storage_type.h"
#include "compiler/relay/import/convert_elements.h"

namespace ingot::onnx_frontend {
namespace {

constexpr int64_t kMostParts = 10000;

// The tensors of input 0, if importing knows them and the position in them,
// which is input `position`, too. Null: a run does the operator.
const Sequence* KnownSequence(NodeContext& c, int position = -1) {
  if (!c.has_input(0)) return nullptr;
  if (position > 0 && c.IsRunTimeInput(position)) return nullptr;
  return c.binding(0)->sequence.get();
}

void SetSequence(NodeContext& c, Sequence sequence) {
  Binding binding;
  binding.sequence = std::make_shared<const Sequence>(std::move(sequence));
  c.SetOutput(0, std::move(binding));
}

void SetKnown(NodeContext& c, DataType dtype, int64_t value) {
  Binding binding;
  binding.known = Known{dtype, {}, {KnownNumber::Of(value)}};
  c.SetOutput(0, std::move(binding));
}

// A position in a sequence of n; n itself is allowed where one inserts.
absl::StatusOr<int64_t> Position(NodeContext& c, int i, size_t size,
                                 bool insert) {
  const int64_t n = static_cast<int64_t>(size);
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> at,
                         c.ConstantInts(i, "position"));
  if (at.size() != 1) return c.Error("position must be one number");
  const int64_t p = at[0] < 0 ? at[0] + n : at[0];
  if (p < 0 || p > n || (p == n && !insert)) {
    return c.Error("position ", at[0], " in a sequence of ", n);
  }
  return p;
}

// Appends the position that only a run knows, if there is one.
absl::Status AddPosition(NodeContext& c, int i, std::vector<Value>* inputs) {
  if (!c.has_input(i)) return absl::OkStatus();
  INGOT_ASSIGN_OR_RETURN(Value at, c.Input(i));
  INGOT_ASSIGN_OR_RETURN(at, c.Cast(at, DataType::Int(64)));
  INGOT_ASSIGN_OR_RETURN(at, c.Reshape(at, {}, "position"));
  inputs->push_back(at);
  return absl::OkStatus();
}

absl::Status Construct(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> values, c.Inputs(1));
  Sequence sequence{values[0].type().dtype, {}};
  for (const Value& value : values) {
    if (!value) return c.Error("leaves a tensor out");
    sequence.tensors.emplace_back();
    sequence.tensors.back().value = value;
  }
  SetSequence(c, std::move(sequence));
  return absl::OkStatus();
}

absl::Status Empty(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const ElementType element,
                         ElementTypeFromOnnx(static_cast<int>(
                             c.Int("dtype", onnx::TensorProto::FLOAT))));
  SetSequence(c, {element.dtype, {}});
  return absl::OkStatus();
}

absl::Status Insert(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(1));
  const Sequence* known = KnownSequence(c, 2);
  if (known == nullptr || known->tensors.size() > kMostParts) {
    INGOT_ASSIGN_OR_RETURN(Value sequence, c.AnySequenceInput(0));
    SequenceInfo info = c.importer()->sequence_info(sequence);
    info.shape = ElementShape::Join(info.shape, ElementShape::Of(ShapeOf(x)));
    std::vector<Value> inputs = {sequence, x};
    INGOT_RETURN_IF_ERROR(AddPosition(c, 2, &inputs));
    return ReturnSequence(c, "sequence_insert", std::move(inputs), {}, info);
  }
  Sequence sequence = *known;
  int64_t at = static_cast<int64_t>(sequence.tensors.size());
  if (at == 0) sequence.dtype = x.type().dtype;
  if (c.has_input(2)) {
    INGOT_ASSIGN_OR_RETURN(at, Position(c, 2, sequence.tensors.size(), true));
  }
  Binding b;
  b.value = x;
  sequence.tensors.insert(sequence.tensors.begin() + at, std::move(b));
  SetSequence(c, std::move(sequence));
  return absl::OkStatus();
}

absl::Status Erase(NodeContext& c) {
  const Sequence* known = KnownSequence(c, 1);
  if (known == nullptr) {
    INGOT_ASSIGN_OR_RETURN(Value sequence, c.AnySequenceInput(0));
    const SequenceInfo info = c.importer()->sequence_info(sequence);
    std::vector<Value> inputs = {sequence};
    INGOT_RETURN_IF_ERROR(AddPosition(c, 1, &inputs));
    return ReturnSequence(c, "sequence_erase", std::move(inputs), {}, info);
  }
  Sequence sequence = *known;
  int64_t at = static_cast<int64_t>(sequence.tensors.size()) - 1;
  if (at < 0) return c.Error("the sequence is empty");
  if (c.has_input(1)) {
    INGOT_ASSIGN_OR_RETURN(at, Position(c, 1, sequence.tensors.size(), false));
  }
  sequence.tensors.erase(sequence.tensors.begin() + at);
  SetSequence(c, std::move(sequence));
  return absl::OkStatus();
}

// The tensor of `sequence` at a position, as output 0.
absl::Status ReturnAt(NodeContext& c, Value sequence, Value at) {
  const ElementShape& shape = c.importer()->sequence_info(sequence).shape;
  if (!shape.dims) {
    return c.NotSupported("the number of dimensions of what is in '",
                          c.node().input(0), "' is not known");
  }
  return ReturnFromSequence(c, "sequence_at", {sequence, at}, {}, *shape.dims);
}

absl::Status At(NodeContext& c) {
  if (const Sequence* known = KnownSequence(c, 1)) {
    INGOT_ASSIGN_OR_RETURN(const int64_t at,
                           Position(c, 1, known->tensors.size(), false));
    c.SetOutput(0, known->tensors[at]);
    return absl::OkStatus();
  }
  INGOT_ASSIGN_OR_RETURN(Value sequence, c.AnySequenceInput(0));
  std::vector<Value> inputs;
  INGOT_RETURN_IF_ERROR(AddPosition(c, 1, &inputs));
  if (inputs.empty()) return c.Error("has no position");
  return ReturnAt(c, sequence, inputs[0]);
}

absl::Status Length(NodeContext& c) {
  if (const Sequence* known = KnownSequence(c)) {
    SetKnown(c, DataType::Int(64), static_cast<int64_t>(known->tensors.size()));
    return absl::OkStatus();
  }
  INGOT_ASSIGN_OR_RETURN(Value sequence, c.AnySequenceInput(0));
  return c.Return("sequence_length", {sequence});
}

// The sizes of the parts, if importing knows them and they are not too many.
absl::StatusOr<std::optional<std::vector<int64_t>>> KnownParts(
    NodeContext& c, const tir::Expr& dim) {
  int64_t extent;
  if (!tir::AsConstInt(dim, &extent) || c.IsRunTimeInput(1)) {
    return std::nullopt;
  }
  std::vector<int64_t> sizes;
  int64_t size = 1;
  if (c.has_input(1)) {
    INGOT_ASSIGN_OR_RETURN(const Tensor split, c.ConstantInput(1, "split"));
    INGOT_ASSIGN_OR_RETURN(sizes, c.ConstantInts(1, "split"));
    if (!split.shape().empty()) {
      int64_t left = extent;
      for (int64_t part : sizes) {
        if (part < 0 || part > left) left = -1;
        if (left < 0) break;
        left -= part;
      }
      if (left != 0) return c.Error("the parts do not add up to ", extent);
      return sizes;
    }
    size = sizes[0];
    if (size < 1) return c.Error("parts of ", size);
  }
  // The last one is smaller.
  if (extent / size >= kMostParts) return std::nullopt;
  sizes.clear();
  for (int64_t at = 0; at < extent; at += size) {
    sizes.push_back(std::min(size, extent - at));
  }
  return sizes;
}

// The extent of each part where the operand `split` is a vector of one number
// over and over; -1: they may differ. Without them a part is one element.
absl::StatusOr<int64_t> ExtentOfParts(NodeContext& c) {
  if (!c.has_input(1)) return 1;
  INGOT_ASSIGN_OR_RETURN(const Value split, c.Input(1));
  const relay::Node& node = *split.node;
  if (RankOf(split) != 1 || node.op == nullptr ||
      !node.op->Has(relay::kUniform)) {
    return -1;
  }
  return static_cast<int64_t>(node.attrs.Get<double>("value"));
}

absl::Status Split(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  int64_t axis = c.Int("axis", 0);
  if (axis < 0) axis += RankOf(x);
  if (axis < 0 || axis >= RankOf(x)) {
    return c.Error("axis ", axis, " of ", relay::ToString(x.type()));
  }
  const bool keepdims = c.has_input(1) || c.Int("keepdims", 1) != 0;
  INGOT_ASSIGN_OR_RETURN(const auto sizes, KnownParts(c, ShapeOf(x)[axis]));
  if (!sizes) {
    SequenceInfo info;
    info.shape = ElementShape::Of(ShapeOf(x));
    INGOT_ASSIGN_OR_RETURN((*info.shape.dims)[axis], ExtentOfParts(c));
    if (!keepdims) info.shape.dims->erase(info.shape.dims->begin() + axis);
    std::vector<Value> inputs = {x};
    if (c.has_input(1)) {
      INGOT_ASSIGN_OR_RETURN(Value split, c.Input(1));
      INGOT_ASSIGN_OR_RETURN(split, c.Cast(split, DataType::Int(64)));
      inputs.push_back(split);
    }
    Attrs attrs;
    attrs.Set("axis", axis);
    attrs.Set("keepdims", int64_t{keepdims});
    return ReturnSequence(c, "sequence_split", std::move(inputs),
                          std::move(attrs), std::move(info));
  }
  Sequence sequence{x.type().dtype, {}};
  int64_t at = 0;
  for (int64_t size : *sizes) {
    Attrs attrs;
    attrs.Set("starts", relay::MakeShape({at}));
    attrs.Set("ends", relay::MakeShape({at + size}));
    attrs.Set("axes", std::vector<int64_t>{axis});
    INGOT_ASSIGN_OR_RETURN(Value part, c.Emit("slice", {x}, std::move(attrs)));
    if (!keepdims) {
      Shape shape = ShapeOf(part);
      shape.erase(shape.begin() + axis);
      INGOT_ASSIGN_OR_RETURN(part, c.Reshape(part, shape));
    }
    sequence.tensors.emplace_back();
    sequence.tensors.back().value = part;
    at += size;
  }
  SetSequence(c, std::move(sequence));
  return absl::OkStatus();
}

absl::Status ConcatOfARun(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value sequence, c.AnySequenceInput(0));
  const ElementShape& shape = c.importer()->sequence_info(sequence).shape;
  if (!shape.dims) {
    return c.NotSupported("the number of dimensions of what is in '",
                          c.node().input(0), "' is not known");
  }
  std::vector<int64_t> dims = *shape.dims;
  const bool new_axis = c.Int("new_axis", 0) != 0;
  const int64_t rank = static_cast<int64_t>(dims.size()) + (new_axis ? 1 : 0);
  int64_t axis = c.Int("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return c.Error("axis ", c.Int("axis", 0));
  if (new_axis) dims.insert(dims.begin() + axis, 1);
  dims[axis] = -1;
  Attrs attrs;
  attrs.Set("axis", axis);
  attrs.Set("new_axis", int64_t{new_axis});
  return ReturnFromSequence(c, "sequence_concat", {sequence}, std::move(attrs),
                            dims);
}

absl::Status Concat(NodeContext& c) {
  const Sequence* known = KnownSequence(c);
  if (known == nullptr) return ConcatOfARun(c);
  if (known->tensors.empty()) return c.Error("the sequence is empty");
  std::vector<Value> parts;
  for (const Binding& b : known->tensors) parts.push_back(b.value);
  const bool new_axis = c.Int("new_axis", 0) != 0;
  const int rank = RankOf(parts[0]) + (new_axis ? 1 : 0);
  int64_t axis = c.Int("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return c.Error("axis ", c.Int("axis", 0));
  if (new_axis) {
    for (Value& v : parts) {
      Shape shape = ShapeOf(v);
      if (axis > static_cast<int64_t>(shape.size())) return c.Error("axis");
      shape.insert(shape.begin() + axis, tir::MakeInt(1));
      INGOT_ASSIGN_OR_RETURN(v, c.Reshape(v, shape));
    }
  }
  Attrs attrs;
  attrs.Set("axis", axis);
  return c.Return("concat", parts, std::move(attrs));
}

// Importing knows that the value is there, so the result is the value itself.
absl::Status PassOn(NodeContext& c, bool optional) {
  if (c.binding(0)->initializer != nullptr) {
    INGOT_RETURN_IF_ERROR(c.Input(0).status());
  }
  Binding binding = *c.binding(0);
  binding.optional = optional;
  c.SetOutput(0, std::move(binding));
  return absl::OkStatus();
}

absl::Status Optional(NodeContext& c) {
  if (c.has_input(0)) return PassOn(c, !c.IsSequence(0));
  for (const onnx::AttributeProto& attribute : c.node().attribute()) {
    if (attribute.name() != "type" || !attribute.has_tp()) continue;
    onnx::TypeProto type;
    *type.mutable_optional_type()->mutable_elem_type() = attribute.tp();
    INGOT_ASSIGN_OR_RETURN(DeclaredSequence sequence,
                           DeclaredSequence::Of(type));
    sequence.info.shape = ElementShape();
    Attrs attrs;
    attrs.Set("dtype", sequence.dtype);
    INGOT_ASSIGN_OR_RETURN(const Value none,
                           c.Emit("optional_none", {}, std::move(attrs)));
    c.importer()->sequence_info(none) = sequence.info;
    c.importer()->AddMissing(none);
    c.SetOutput(0, none);
    return absl::OkStatus();
  }
  return c.Error("has neither a value nor a type");
}

// Whether the operand is a sequence that a run makes, and may be missing.
bool IsOfARun(NodeContext& c) {
  return c.IsSequence(0) && !c.binding(0)->optional &&
         KnownSequence(c) == nullptr;
}

absl::Status OptionalGetElement(NodeContext& c) {
  if (!c.has_input(0)) return c.NotSupported("an empty optional");
  if (!IsOfARun(c)) return PassOn(c, false);
  INGOT_ASSIGN_OR_RETURN(Value sequence, c.AnySequenceInput(0));
  const SequenceInfo info = c.importer()->sequence_info(sequence);
  if (!info.optional_tensor)
    return ReturnSequence(c, "optional_get", {sequence}, {}, info);
  INGOT_ASSIGN_OR_RETURN(Value first, c.Scalar(DataType::Int(64), 0));
  return ReturnAt(c, sequence, first);
}

absl::Status OptionalHasElement(NodeContext& c) {
  if (!c.has_input(0) || !IsOfARun(c)) {
    SetKnown(c, DataType::Bool(), c.has_input(0));
    return absl::OkStatus();
  }
  INGOT_ASSIGN_OR_RETURN(Value sequence, c.AnySequenceInput(0));
  if (!c.importer()->IsMissing(sequence))
    return c.Return("optional_has_value", {sequence});
  SetKnown(c, DataType::Bool(), 0);
  return absl::OkStatus();
}

}  // namespace

void AddSequenceConverters(ConverterTable* t) {
  t->Add("SequenceConstruct", 11, &Construct);
  t->Add("SequenceEmpty", 11, &Empty);
  t->Add("SequenceInsert", 11, &Insert);
  t->Add("SequenceErase", 11, &Erase);
  t->Add("SequenceAt", 11, &At);
  t->Add("SequenceLength", 11, &Length);
  t->Add("SplitToSequence", 11, &Split);
  t->Add("ConcatFromSequence", 11, &Concat);
  t->Add("Optional", 15, &Optional);
  t->Add("OptionalGetElement", 15, &OptionalGetElement);
  t->Add("OptionalHasElement", 15, &OptionalHasElement);
}

}  // namespace ingot::onnx_frontend
