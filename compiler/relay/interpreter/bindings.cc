#include "compiler/relay/interpreter/bindings.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::relay {

absl::Status Bindings::Bind(const TensorType& type,
                            const TensorOrSequence& value) {
  if (const auto* sequence = std::get_if<TensorSequence>(&value)) {
    absl::Status status = sequence->Check();
    if (!status.ok() || (type.is_sequence && type.dtype == sequence->dtype)) {
      return status;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "a ", sequence->TypeString(), " does not fit ", ToString(type)));
  }
  if (type.is_sequence) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor does not fit ", ToString(type)));
  }
  const Tensor& tensor = std::get<Tensor>(value);
  bool fits = tensor.defined() && tensor.dtype() == type.dtype &&
              tensor.shape().size() == type.shape.size();
  for (size_t d = 0; fits && d < type.shape.size(); ++d) {
    int64_t known;
    if (const auto* var = tir::As<tir::Var>(type.shape[d])) {
      values_.emplace(var, tir::MakeInt(tensor.shape()[d]));
    } else if (tir::AsConstInt(type.shape[d], &known)) {
      fits = known == tensor.shape()[d];
    }
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a tensor ", tensor.defined() ? tensor.TypeString() : "",
                   " does not fit ", ToString(type)));
}

absl::StatusOr<Values> Bindings::BindElements(const Node& node,
                                              const Tensor& x) {
  const Shape& symbols = node.attrs.Get<Shape>("symbols");
  std::vector<int64_t> dims;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const int64_t value = x.values<int64_t>()[i];
    const auto* var = tir::As<tir::Var>(symbols[i]);
    if (value < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the dimension ", var->name, " would be ", value));
    }
    values_[var] = tir::MakeInt(value);
    dims.push_back(value);
  }
  dims.push_back(0);
  INGOT_ASSIGN_OR_RETURN(Tensor told, Tensor::Empty(DataType::Bool(), dims));
  return Values{told};
}

absl::Status Bindings::BindResults(const Node& node, const Values& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    INGOT_RETURN_IF_ERROR(Bind(node.outputs[i], results[i]));
  }
  return absl::OkStatus();
}

Shape Bindings::operator()(const Shape& shape) const {
  Shape result;
  for (const Dim& dim : shape) {
    result.push_back(tir::Simplify(tir::Substitute(dim, values_)));
  }
  return result;
}

Node Bindings::operator()(const Node& node) const {
  Node bound = node;
  for (TensorType& type : bound.outputs) type.shape = (*this)(type.shape);
  for (const auto& [name, value] : node.attrs.values()) {
    if (const auto* shape = std::get_if<Shape>(&value)) {
      bound.attrs.Set(name, (*this)(*shape));
    }
  }
  return bound;
}

}  // namespace ingot::relay
