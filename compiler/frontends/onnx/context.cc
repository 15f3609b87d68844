#include "compiler/frontends/onnx/context.h"

#include <utility>

#include "compiler/frontends/onnx/constant_value.h"
#include "compiler/frontends/onnx/importer.h"
#include "compiler/frontends/onnx/tensor_proto.h"
#include "compiler/relay/op.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {

using onnx::AttributeProto;

// ------------------------------------------------------------------- operands

bool NodeContext::has_input(int i) const {
  return i < num_inputs() && inputs_[i] != nullptr;
}

absl::StatusOr<Value> NodeContext::Input(int i) {
  if (stored(i) != 0 && !stored_allowed_) {
    return NotSupported("'", node_.input(i), "' has elements of type ",
                        StoredTypeName(stored(i)),
                        ", which this operator does not take");
  }
  return StoredInput(i);
}

absl::StatusOr<Value> NodeContext::StoredInput(int i) {
  if (!has_input(i)) return Error("input ", i, " is missing");
  return importer_->Materialize(inputs_[i], node_.input(i));
}

bool NodeContext::IsList(int i) const {
  return has_input(i) && onnx_frontend::IsList(*inputs_[i]);
}

absl::StatusOr<Value> NodeContext::ListInput(int i) {
  if (!has_input(i)) return Error("input ", i, " is missing");
  return importer_->MaterializeList(inputs_[i], node_.input(i));
}

int NodeContext::stored(int i) const {
  return has_input(i) ? inputs_[i]->stored : 0;
}

absl::Status NodeContext::AllowStored() {
  for (int i = 0; i < num_inputs(); ++i) {
    if (stored(i) == kTextType || (stored(i) != 0 && stored(i) != stored(0))) {
      return NotSupported("'", node_.input(i), "' has elements of type ",
                          StoredTypeName(stored(i)),
                          ", which this operator does not take");
    }
  }
  stored_allowed_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Value>> NodeContext::Inputs(int required) {
  if (required < 0) required = num_inputs();
  if (num_inputs() < required) {
    return Error("has ", num_inputs(), " inputs, not ", required);
  }
  std::vector<Value> values;
  for (int i = 0; i < num_inputs(); ++i) {
    Value value;
    if (i < required || has_input(i)) {
      INGOT_ASSIGN_OR_RETURN(value, Input(i));
    }
    values.push_back(value);
  }
  return values;
}

const Known* NodeContext::known(int i) const {
  return has_input(i) && stored(i) == 0 ? importer_->KnownOf(inputs_[i])
                                        : nullptr;
}

absl::StatusOr<Tensor> NodeContext::ConstantInput(int i,
                                                  absl::string_view what) {
  if (const Known* k = known(i); k != nullptr && k->AllConstant()) {
    return TensorFromKnown(*k);
  }
  INGOT_ASSIGN_OR_RETURN(Value value, Input(i));
  absl::StatusOr<Tensor> tensor = ConstantValue(value);
  if (tensor.ok()) return tensor;
  if (tensor.status().code() == absl::StatusCode::kFailedPrecondition) {
    return NotSupported(what, " ('", node_.input(i),
                        "') must not depend on the model's inputs");
  }
  return tensor.status();
}

absl::StatusOr<std::vector<tir::Expr>> NodeContext::KnownInts(
    int i, absl::string_view what) {
  const Known* k = known(i);
  if (k != nullptr && k->AllIntegers() && k->shape.size() <= 1) {
    return k->Integers();
  }
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, ConstantInput(i, what));
  const std::optional<Known> elements = KnownFromTensor(tensor);
  if (!elements || !elements->AllIntegers() || elements->shape.size() > 1) {
    return Error(what, " must be a short vector of integers, not ",
                 tensor.TypeString());
  }
  return elements->Integers();
}

absl::StatusOr<std::vector<tir::Expr>> NodeContext::RunTimeInts(
    int i, absl::string_view what) {
  if (!IsRunTimeInput(i)) return KnownInts(i, what);
  INGOT_ASSIGN_OR_RETURN(Value value, Input(i));
  return importer_->BindDims(value, absl::StrCat(name_, "_", what));
}

bool NodeContext::IsRunTimeInput(int i) {
  if (!has_input(i)) return false;
  if (const Known* k = known(i);
      k != nullptr && (k->AllConstant() || k->AllIntegers())) {
    return false;
  }
  return absl::IsUnimplemented(ConstantInput(i, "").status());
}

absl::StatusOr<std::vector<int64_t>> NodeContext::ConstantInts(
    int i, absl::string_view what) {
  INGOT_ASSIGN_OR_RETURN(std::vector<tir::Expr> exprs, KnownInts(i, what));
  std::vector<int64_t> values;
  for (const tir::Expr& e : exprs) {
    int64_t v;
    if (!tir::AsConstInt(e, &v)) {
      return NotSupported(what, " ('", node_.input(i),
                          "') must not depend on the model's inputs; "
                          "giving the inputs' shapes may help");
    }
    values.push_back(v);
  }
  return values;
}

absl::StatusOr<std::vector<double>> NodeContext::ConstantFloats(
    int i, absl::string_view what) {
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, ConstantInput(i, what));
  const std::optional<Known> elements = KnownFromTensor(tensor);
  if (!elements || elements->shape.size() > 1) {
    return Error(what, " must be a short vector of numbers, not ",
                 tensor.TypeString());
  }
  std::vector<double> values;
  for (const KnownNumber& n : elements->values) {
    double v = 0;
    n.AsDouble(&v);
    values.push_back(v);
  }
  return values;
}

// ----------------------------------------------------------------- attributes

const AttributeProto* NodeContext::Find(absl::string_view name) const {
  for (const AttributeProto& a : node_.attribute()) {
    if (a.name() == name) return &a;
  }
  return nullptr;
}

const AttributeProto* NodeContext::Typed(absl::string_view name,
                                         AttributeProto::AttributeType type) {
  const AttributeProto* a = Find(name);
  if (a == nullptr) return nullptr;
  // IR version 1 had no type field.
  if (a->type() != type && a->type() != AttributeProto::UNDEFINED) {
    if (status_.ok()) {
      status_ = Error("attribute '", name, "' is of type ",
                      AttributeProto::AttributeType_Name(a->type()), " where ",
                      AttributeProto::AttributeType_Name(type), " is expected");
    }
    return nullptr;
  }
  return a;
}

int64_t NodeContext::Int(absl::string_view name, int64_t otherwise) {
  const AttributeProto* a = Typed(name, AttributeProto::INT);
  return a != nullptr ? a->i() : otherwise;
}

double NodeContext::Float(absl::string_view name, double otherwise) {
  const AttributeProto* a = Typed(name, AttributeProto::FLOAT);
  return a != nullptr ? a->f() : otherwise;
}

std::string NodeContext::String(absl::string_view name,
                                absl::string_view otherwise) {
  const AttributeProto* a = Typed(name, AttributeProto::STRING);
  return a != nullptr ? a->s() : std::string(otherwise);
}

std::vector<int64_t> NodeContext::Ints(absl::string_view name,
                                       std::vector<int64_t> otherwise) {
  const AttributeProto* a = Typed(name, AttributeProto::INTS);
  if (a == nullptr) return otherwise;
  return {a->ints().begin(), a->ints().end()};
}

std::vector<double> NodeContext::Floats(absl::string_view name,
                                        std::vector<double> otherwise) {
  const AttributeProto* a = Typed(name, AttributeProto::FLOATS);
  if (a == nullptr) return otherwise;
  return {a->floats().begin(), a->floats().end()};
}

std::vector<std::string> NodeContext::Strings(absl::string_view name) {
  const AttributeProto* a = Typed(name, AttributeProto::STRINGS);
  if (a == nullptr) return {};
  return {a->strings().begin(), a->strings().end()};
}

const onnx::GraphProto* NodeContext::Graph(absl::string_view name) {
  const AttributeProto* a = Typed(name, AttributeProto::GRAPH);
  return a != nullptr ? &a->g() : nullptr;
}

absl::StatusOr<Tensor> NodeContext::TensorAttr(absl::string_view name,
                                               int* stored) {
  const AttributeProto* a = Typed(name, AttributeProto::TENSOR);
  INGOT_RETURN_IF_ERROR(status_);
  if (a == nullptr) return Error("attribute '", name, "' is missing");
  const int type = a->t().data_type();
  if (stored != nullptr) *stored = IsStoredType(type) ? type : 0;
  if (stored == nullptr && IsStoredType(type)) {
    return NotSupported("attribute '", name, "' has elements of type ",
                        StoredTypeName(type));
  }
  // A copy, since a function's body may be imported again.
  onnx::TensorProto copy = a->t();
  return TensorFromProto(&copy, importer_->options().model_dir);
}

// -------------------------------------------------------------------- results

absl::StatusOr<relay::Node*> NodeContext::EmitNode(absl::string_view op,
                                                   std::vector<Value> inputs,
                                                   Attrs attrs,
                                                   absl::string_view suffix) {
  const std::string name =
      suffix.empty() ? name_ : absl::StrCat(name_, "_", suffix);
  // Trailing operands that were left out need not be there.
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  const relay::OpDef* def = relay::StandardOps().Find(op);
  if (def != nullptr && def->max_inputs < 0) {
    INGOT_RETURN_IF_ERROR(importer_->AddRunTimeCarriers(attrs, &inputs));
  }
  return importer_->function()->AddOp(op, name, std::move(inputs),
                                      std::move(attrs));
}

absl::StatusOr<Value> NodeContext::Emit(absl::string_view op,
                                        std::vector<Value> inputs, Attrs attrs,
                                        absl::string_view suffix) {
  INGOT_ASSIGN_OR_RETURN(
      relay::Node * node,
      EmitNode(op, std::move(inputs), std::move(attrs), suffix));
  return Value{node, 0};
}

absl::StatusOr<Value> NodeContext::Constant(Tensor tensor,
                                            absl::string_view suffix) {
  const std::string name =
      suffix.empty() ? name_ : absl::StrCat(name_, "_", suffix);
  return Value{importer_->function()->AddConstant(name, std::move(tensor)), 0};
}

absl::StatusOr<Value> NodeContext::Scalar(DataType dtype, double value,
                                          absl::Span<const int64_t> shape) {
  Known known{dtype, {shape.begin(), shape.end()}, {KnownNumber::Of(value)}};
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromKnown(known));
  return Constant(std::move(tensor), "const");
}

absl::StatusOr<Value> NodeContext::Reshape(Value value, const Shape& shape,
                                           absl::string_view suffix) {
  if (relay::SameShape(ShapeOf(value), shape)) return value;
  const auto dims = relay::ConstShape(shape);
  if (dims && value.node->constant) {
    absl::StatusOr<Tensor> tensor = value.node->constant->Reshape(*dims);
    if (tensor.ok()) return Constant(*std::move(tensor), suffix);
  }
  Attrs attrs;
  attrs.Set("shape", shape);
  return Emit("reshape", {value}, std::move(attrs), suffix);
}

absl::StatusOr<Value> NodeContext::FixShape(Value value, const Shape& shape,
                                            absl::string_view suffix) {
  if (relay::SameShape(ShapeOf(value), shape)) return value;
  Attrs attrs;
  attrs.Set("shape", shape);
  return Emit("fix_shape", {value}, std::move(attrs), suffix);
}

absl::StatusOr<Value> NodeContext::Cast(Value value, DataType dtype) {
  if (value.type().dtype == dtype) return value;
  Attrs attrs;
  attrs.Set("dtype", dtype);
  return Emit("cast", {value}, std::move(attrs), "cast");
}

absl::StatusOr<Value> NodeContext::Transpose(Value value,
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

absl::StatusOr<std::vector<Value>> NodeContext::Carriers(const Shape& dims) {
  return importer_->Carriers(dims);
}

void NodeContext::SetOutput(int i, Binding binding) {
  if (static_cast<size_t>(i) >= outputs_.size()) outputs_.resize(i + 1);
  outputs_[i] = std::move(binding);
}

absl::Status NodeContext::Return(absl::string_view op,
                                 std::vector<Value> inputs, Attrs attrs) {
  INGOT_ASSIGN_OR_RETURN(Value value,
                         Emit(op, std::move(inputs), std::move(attrs)));
  SetOutput(0, value);
  return absl::OkStatus();
}

}  // namespace ingot::onnx_frontend
