// Operators on sequences of tensors. Nothing is computed: what runs the model
// does them (runtime/tensor_sequence.h says what each means).
#include <string>
#include <utility>

#include "compiler/relay/ops/common.h"
#include "runtime/tensor_sequence.h"

namespace ingot::relay::ops {
namespace {

bool IsOne(const TensorType& type) {
  for (const Dim& dim : type.shape) {
    if (!tir::IsConstInt(dim, 1)) return false;
  }
  return true;
}

// Whether an operand is what the letter of SequenceOpInfo says.
bool Fits(char letter, const TensorType& type, DataType dtype) {
  switch (letter) {
    case 'L':
      return type.is_sequence && type.dtype == dtype;
    case 'x':
      return !type.is_sequence && type.dtype == dtype;
    case 'i':
      return !type.is_sequence && type.dtype == DataType::Int(64) &&
             IsOne(type);
    default:
      return !type.is_sequence && type.dtype == DataType::Int(64) &&
             type.shape.size() <= 1;
  }
}

absl::StatusOr<Types> Infer(const SequenceOpInfo& info, const InferContext& c) {
  INGOT_ASSIGN_OR_RETURN(const std::string letters,
                         OperandsOf(info, c.inputs.size()));
  for (size_t i = 0; i < letters.size(); ++i) {
    if (!c.has(static_cast<int>(i)))
      return Invalid("operand ", i, " is missing");
  }
  const DataType dtype =
      c.attrs.Has("dtype") ? c.attrs.Get<DataType>("dtype") : c.type(0).dtype;
  for (size_t i = 0; i < letters.size(); ++i) {
    const TensorType& type = c.type(static_cast<int>(i));
    if (Fits(letters[i], type, dtype)) continue;
    return Invalid("operand ", i, " is ", ToString(type));
  }
  if (c.attrs.Has("axis")) {
    const Shape& shape = info.op == SequenceOp::kSplit
                             ? c.type(0).shape
                             : c.attrs.Get<Shape>("shape");
    INGOT_RETURN_IF_ERROR(NormalizeAxis(c.attrs.Get<int64_t>("axis"),
                                        static_cast<int>(shape.size()))
                              .status());
  }
  switch (info.result) {
    case 'L':
      return Types{SequenceType(dtype)};
    case 'x':
      return Types{{dtype, c.attrs.Get<Shape>("shape")}};
    case 'i':
      return Types{{DataType::Int(64), {}}};
    default:
      return Types{{DataType::Bool(), {}}};
  }
}

OpDef Sequence(absl::string_view name, absl::string_view doc,
               std::vector<AttrSpec> attrs, int min_inputs, int max_inputs) {
  const SequenceOpInfo* info = FindSequenceOp(name);
  OpDef def;
  def.name = std::string(name);
  def.doc = std::string(doc);
  def.min_inputs = min_inputs;
  def.max_inputs = max_inputs;
  def.step = ExecutorStep::kSequence;
  def.attrs = std::move(attrs);
  def.infer = [info](const InferContext& c) { return Infer(*info, c); };
  return def;
}

}  // namespace

absl::Status RegisterSequence(OpRegistry* registry) {
  const AttrSpec dtype = TypeAttr("dtype", "of the tensors", kRequired);
  const AttrSpec shape = ShapeAttr(
      "shape", "of the result; new symbols are bound to it", kRequired);
  const AttrSpec axis = IntAttr("axis", "the dimension", kRequired);
  return RegisterAllOf(
      registry,
      {Sequence("sequence_make", "the tensors as a sequence", {dtype}, 0, -1),
       Sequence("optional_none", "an optional value that is not there", {dtype},
                0, 0),
       Sequence("optional_get", "an optional value, which must be there", {}, 1,
                1),
       Sequence("sequence_insert",
                "a sequence with x in front of a position, or else at its end",
                {}, 2, 3),
       Sequence("sequence_erase",
                "a sequence without the tensor at a position, or else the last",
                {}, 1, 2),
       Sequence("sequence_at", "the tensor at a position", {shape}, 2, 2),
       Sequence("sequence_length", "how many tensors there are", {}, 1, 1),
       Sequence("optional_has_value", "whether an optional value is there", {},
                1, 1),
       Sequence("sequence_concat", "the tensors one after the other",
                {shape, axis,
                 IntAttr("new_axis", "whether each gets the axis first", 0)},
                1, 1),
       Sequence(
           "sequence_split", "x in parts of a size, or of sizes, or else of 1",
           {axis, IntAttr("keepdims", "whether parts of 1 keep the axis", 1)},
           1, 2)});
}

}  // namespace ingot::relay::ops
