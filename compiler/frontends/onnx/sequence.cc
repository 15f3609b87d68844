// Sequences of tensors. Their lengths and positions are known while importing,
// so no trace of them is left in the module.
#include <memory>
#include <utility>

#include "compiler/frontends/onnx/converters.h"

namespace ingot::onnx_frontend {
namespace {

using Sequence = std::vector<Binding>;

absl::StatusOr<Sequence> SequenceInput(NodeContext& c, int i) {
  if (!c.has_input(i) || c.binding(i)->sequence == nullptr) {
    return c.NotSupported("input ", i, " is not a sequence of known length");
  }
  return *c.binding(i)->sequence;
}

void SetSequence(NodeContext& c, Sequence sequence) {
  Binding binding;
  binding.sequence = std::make_shared<const Sequence>(std::move(sequence));
  c.SetOutput(0, std::move(binding));
}

absl::StatusOr<Binding> TensorInput(NodeContext& c, int i) {
  Binding binding;
  INGOT_ASSIGN_OR_RETURN(binding.value, c.Input(i));
  return binding;
}

// A position in a sequence of n; n itself is allowed where one inserts.
absl::StatusOr<int64_t> Position(NodeContext& c, int i, int64_t n,
                                 bool insert) {
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> at,
                         c.ConstantInts(i, "position"));
  if (at.size() != 1) return c.Error("position must be one number");
  const int64_t p = at[0] < 0 ? at[0] + n : at[0];
  if (p < 0 || p > n || (p == n && !insert)) {
    return c.Error("position ", at[0], " in a sequence of ", n);
  }
  return p;
}

absl::Status Construct(NodeContext& c) {
  Sequence sequence;
  for (int i = 0; i < c.num_inputs(); ++i) {
    INGOT_ASSIGN_OR_RETURN(Binding b, TensorInput(c, i));
    sequence.push_back(std::move(b));
  }
  SetSequence(c, std::move(sequence));
  return absl::OkStatus();
}

absl::Status Empty(NodeContext& c) {
  SetSequence(c, {});
  return absl::OkStatus();
}

absl::Status Insert(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Sequence sequence, SequenceInput(c, 0));
  INGOT_ASSIGN_OR_RETURN(Binding b, TensorInput(c, 1));
  int64_t at = static_cast<int64_t>(sequence.size());
  if (c.has_input(2)) {
    INGOT_ASSIGN_OR_RETURN(at, Position(c, 2, at, true));
  }
  if (sequence.size() > 10000) return c.Error("the sequence is too long");
  sequence.insert(sequence.begin() + at, std::move(b));
  SetSequence(c, std::move(sequence));
  return absl::OkStatus();
}

absl::Status Erase(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Sequence sequence, SequenceInput(c, 0));
  int64_t at = static_cast<int64_t>(sequence.size()) - 1;
  if (at < 0) return c.Error("the sequence is empty");
  if (c.has_input(1)) {
    INGOT_ASSIGN_OR_RETURN(at, Position(c, 1, at + 1, false));
  }
  sequence.erase(sequence.begin() + at);
  SetSequence(c, std::move(sequence));
  return absl::OkStatus();
}

absl::Status At(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Sequence sequence, SequenceInput(c, 0));
  INGOT_ASSIGN_OR_RETURN(
      int64_t at, Position(c, 1, static_cast<int64_t>(sequence.size()), false));
  c.SetOutput(0, sequence[at]);
  return absl::OkStatus();
}

absl::Status Length(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Sequence sequence, SequenceInput(c, 0));
  Binding length;
  length.known =
      Known{DataType::Int(64),
            {},
            {KnownNumber::Of(static_cast<int64_t>(sequence.size()))}};
  c.SetOutput(0, std::move(length));
  return absl::OkStatus();
}

absl::Status Split(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  int64_t axis = c.Int("axis", 0), extent;
  if (axis < 0) axis += RankOf(x);
  if (axis < 0 || axis >= RankOf(x) ||
      !tir::AsConstInt(ShapeOf(x)[axis], &extent)) {
    return c.NotSupported("axis ", axis, " of ", relay::ToString(x.type()));
  }
  constexpr int64_t kMostParts = 10000;
  std::vector<int64_t> sizes;
  bool keepdims = true;
  if (c.has_input(1)) {
    const Known* k = c.known(1);
    INGOT_ASSIGN_OR_RETURN(sizes, c.ConstantInts(1, "split"));
    if (k != nullptr && k->shape.empty() && !sizes.empty()) {
      // A scalar: parts of that size, the last one smaller.
      const int64_t size = sizes[0];
      if (size < 1) return c.Error("parts of ", size);
      if (extent / size >= kMostParts) return c.NotSupported("so many parts");
      sizes.clear();
      for (int64_t at = 0; at < extent; at += size) {
        sizes.push_back(std::min(size, extent - at));
      }
    }
  } else {
    if (extent > kMostParts) return c.NotSupported("so many parts");
    sizes.assign(extent, 1);
    keepdims = c.Int("keepdims", 1) != 0;
  }
  Sequence sequence;
  int64_t at = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > extent - at) {
      return c.Error("the parts do not add up to ", extent);
    }
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
    Binding b;
    b.value = part;
    sequence.push_back(std::move(b));
    at += size;
  }
  SetSequence(c, std::move(sequence));
  return absl::OkStatus();
}

absl::Status Concat(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Sequence sequence, SequenceInput(c, 0));
  if (sequence.empty()) return c.Error("the sequence is empty");
  std::vector<Value> parts;
  for (const Binding& b : sequence) parts.push_back(b.value);
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

// Optional values that are there, as importing knows.
absl::Status Optional(NodeContext& c) {
  if (!c.has_input(0)) return c.NotSupported("an empty optional");
  if (c.binding(0)->initializer != nullptr) {
    INGOT_RETURN_IF_ERROR(c.Input(0).status());
  }
  c.SetOutput(0, *c.binding(0));
  return absl::OkStatus();
}

absl::Status OptionalHasElement(NodeContext& c) {
  Binding has;
  has.known =
      Known{DataType::Bool(), {}, {KnownNumber::Of(int64_t{c.has_input(0)})}};
  c.SetOutput(0, std::move(has));
  return absl::OkStatus();
}

}  // namespace

void AddSequenceConverters(ConverterTable* t) {
  t->Add("SequenceConstruct", &Construct);
  t->Add("SequenceEmpty", &Empty);
  t->Add("SequenceInsert", &Insert);
  t->Add("SequenceErase", &Erase);
  t->Add("SequenceAt", &At);
  t->Add("SequenceLength", &Length);
  t->Add("SplitToSequence", &Split);
  t->Add("ConcatFromSequence", &Concat);
  t->Add("Optional", &Optional);
  t->Add("OptionalGetElement", &Optional);
  t->Add("OptionalHasElement", &OptionalHasElement);
}

}  // namespace ingot::onnx_frontend
