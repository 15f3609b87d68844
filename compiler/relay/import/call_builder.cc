#include "compiler/relay/import/call_builder.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/op.h"

namespace ingot::relay {

std::string CallBuilder::NameWith(absl::string_view suffix) const {
  return suffix.empty() ? name_ : absl::StrCat(name_, "_", suffix);
}

absl::StatusOr<Node*> CallBuilder::EmitNode(absl::string_view op,
                                            std::vector<Value> inputs,
                                            Attrs attrs,
                                            absl::string_view suffix) {
  // Trailing operands that were left out need not be there.
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  const OpDef* def = StandardOps().Find(op);
  if (def != nullptr && def->max_inputs < 0) {
    INGOT_RETURN_IF_ERROR(builder_->AddRunTimeDimSources(attrs, &inputs));
  }
  return builder_->function()->AddOp(op, NameWith(suffix), std::move(inputs),
                                     std::move(attrs));
}

absl::StatusOr<Value> CallBuilder::Emit(absl::string_view op,
                                        std::vector<Value> inputs, Attrs attrs,
                                        absl::string_view suffix) {
  INGOT_ASSIGN_OR_RETURN(
      Node * node, EmitNode(op, std::move(inputs), std::move(attrs), suffix));
  return Value{node};
}

absl::StatusOr<Value> CallBuilder::Constant(Tensor tensor,
                                            absl::string_view suffix) {
  return Value{
      builder_->function()->AddConstant(NameWith(suffix), std::move(tensor))};
}

absl::StatusOr<Value> CallBuilder::Scalar(DataType dtype, double value,
                                          absl::Span<const int64_t> shape) {
  const Known known{
      dtype, {shape.begin(), shape.end()}, {KnownNumber::Of(value)}};
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromKnown(known));
  return Constant(std::move(tensor), "const");
}

absl::StatusOr<Value> CallBuilder::Reshape(Value value, const Shape& shape,
                                           absl::string_view suffix) {
  if (SameShape(ShapeOf(value), shape)) return value;
  const auto dims = ConstShape(shape);
  if (dims && value.node->constant) {
    absl::StatusOr<Tensor> tensor = value.node->constant->Reshape(*dims);
    if (tensor.ok()) return Constant(*std::move(tensor), suffix);
  }
  return Emit("reshape", {value}, {{"shape", shape}}, suffix);
}

absl::StatusOr<Value> CallBuilder::FixShape(Value value, const Shape& shape,
                                            absl::string_view suffix) {
  if (SameShape(ShapeOf(value), shape)) return value;
  return Emit("fix_shape", {value}, {{"shape", shape}}, suffix);
}

absl::StatusOr<Value> CallBuilder::Cast(Value value, DataType dtype) {
  if (value.type().dtype == dtype) return value;
  return Emit("cast", {value}, {{"dtype", dtype}}, "cast");
}

absl::StatusOr<Value> CallBuilder::Widen(Value value) {
  const DataType t = value.type().dtype;
  if (!t.is_float() || t.bits >= 32) return value;
  return Cast(std::move(value), DataType::Float(32));
}

absl::StatusOr<Value> CallBuilder::Transpose(Value value,
                                             std::vector<int64_t> axes,
                                             absl::string_view suffix) {
  bool same = true;
  for (size_t d = 0; d < axes.size(); ++d) {
    same = same && axes[d] == static_cast<int64_t>(d);
  }
  if (same) return value;
  Attrs attrs;
  attrs.Set("axes", std::move(axes));
  return Emit("transpose", {value}, std::move(attrs), suffix);
}

}  // namespace ingot::relay
