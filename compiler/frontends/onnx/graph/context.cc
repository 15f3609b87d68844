#include "compiler/frontends/onnx/graph/context.h"

#include <utility>

#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/model/storage_type.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"
#include "compiler/relay/interpreter/constant_value.h"

namespace ingot::onnx_frontend {

using onnx::AttributeProto;

NodeContext::NodeContext(Importer* importer, const onnx::NodeProto& node,
                         int opset, std::string name,
                         std::vector<Binding*> inputs)
    : CallBuilder(&importer->builder(), std::move(name)),
      importer_(importer),
      node_(node),
      opset_(opset),
      inputs_(std::move(inputs)),
      outputs_(node.output_size()) {}

// ------------------------------------------------------------------- operands

bool NodeContext::has_input(int i) const {
  return i < num_inputs() && inputs_[i] != nullptr;
}

absl::StatusOr<Value> NodeContext::Input(int i) {
  if (storage(i) != StorageType::kNone && !stored_allowed_) {
    return NotSupported("'", node_.input(i), "' has elements of type ",
                        relay::ToString(storage(i)),
                        ", which this operator does not take");
  }
  return StoredInput(i);
}

absl::StatusOr<Value> NodeContext::StoredInput(int i) {
  if (!has_input(i)) return Error("input ", i, " is missing");
  return importer_->Materialize(inputs_[i], node_.input(i));
}

bool NodeContext::IsSequence(int i) const {
  return has_input(i) && onnx_frontend::IsSequence(*inputs_[i]);
}

absl::StatusOr<Value> NodeContext::AnySequenceInput(int i) {
  if (!has_input(i)) return Error("input ", i, " is missing");
  return importer_->MaterializeSequence(inputs_[i], node_.input(i));
}

StorageType NodeContext::storage(int i) const {
  return has_input(i) ? inputs_[i]->storage : StorageType::kNone;
}

absl::Status NodeContext::AllowStorageTypes() {
  for (int i = 0; i < num_inputs(); ++i) {
    const StorageType type = storage(i);
    if (type == StorageType::kText ||
        (type != StorageType::kNone && type != storage(0))) {
      return NotSupported("'", node_.input(i), "' has elements of type ",
                          relay::ToString(storage(i)),
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
  return has_input(i) && storage(i) == StorageType::kNone
             ? importer_->KnownOf(inputs_[i])
             : nullptr;
}

absl::StatusOr<Tensor> NodeContext::ConstantInput(int i,
                                                  absl::string_view what) {
  if (const Known* k = known(i); k != nullptr && k->AllConstant()) {
    return relay::TensorFromKnown(*k);
  }
  INGOT_ASSIGN_OR_RETURN(Value value, Input(i));
  absl::StatusOr<Tensor> tensor = relay::ConstantValue(value);
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
  const std::optional<Known> elements = relay::KnownFromTensor(tensor);
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
  return builder().BindDims(value, absl::StrCat(name(), "_", what));
}

absl::StatusOr<Shape> NodeContext::RunTimeExtents(int i, absl::string_view what,
                                                  int64_t most) {
  INGOT_ASSIGN_OR_RETURN(Shape extents, RunTimeInts(i, what));
  for (const tir::Expr& extent : extents) {
    int64_t value;
    if (tir::AsConstInt(extent, &value) && (value < 0 || value > most)) {
      return Error(what, " of ", value);
    }
  }
  return extents;
}

absl::StatusOr<tir::Expr> NodeContext::RunTimeExtent(int i,
                                                     absl::string_view what,
                                                     int64_t most) {
  INGOT_ASSIGN_OR_RETURN(const Shape extents, RunTimeExtents(i, what, most));
  if (extents.size() != 1) {
    return Error(what, " is ", extents.size(), " numbers, not one");
  }
  return extents[0];
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
  const std::optional<Known> elements = relay::KnownFromTensor(tensor);
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
  asked_.emplace(name);
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
  // A default is an attribute of ONNX too, and those are of 32 bits.
  return a != nullptr ? a->f() : static_cast<float>(otherwise);
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
                                               StorageType* storage) {
  const AttributeProto* a = Typed(name, AttributeProto::TENSOR);
  INGOT_RETURN_IF_ERROR(status_);
  if (a == nullptr) return Error("attribute '", name, "' is missing");
  const StorageType type = StorageTypeFromOnnx(a->t().data_type());
  if (storage != nullptr) {
    *storage = type;
  } else if (type != StorageType::kNone) {
    return NotSupported("attribute '", name, "' has elements of type ",
                        relay::ToString(type));
  }
  // A copy, since a function's body may be imported again.
  onnx::TensorProto copy = a->t();
  return TensorFromProto(&copy, importer_->model_dir());
}

void NodeContext::WarnOfNode(const std::string& message) {
  importer_->Warn(
      absl::StrCat("node '", name(), "' (", node_.op_type(), ") ", message));
}

// -------------------------------------------------------------------- results

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
