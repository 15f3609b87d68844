#include "backends/library_calls/number_values.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"

namespace ingot::library_calls {

absl::Status ValueNumbers::Number(
    const relay::Module& module, const relay::Function& function,
    absl::string_view symbol, Region* region,
    const std::function<absl::Status(const ValueNumbers&,
                                     const codegen::RegionCall&,
                                     int64_t result)>& add) {
  region->name = std::string(symbol);
  ValueNumbers numbers(region);
  for (relay::Node* input : function.inputs) {
    INGOT_RETURN_IF_ERROR(numbers.Declare({input, 0}, &region->spec.inputs));
  }
  for (const relay::Value& output : function.outputs) {
    INGOT_RETURN_IF_ERROR(numbers.Declare(output, &region->spec.outputs));
  }
  for (const auto& node : function.nodes()) {
    if (node->kind != relay::NodeKind::kOp &&
        node->kind != relay::NodeKind::kCallFunction) {
      continue;
    }
    const relay::Value result{node.get(), 0};
    INGOT_RETURN_IF_ERROR(numbers.DeclareTemporary(result));
    const absl::Status added = add(numbers, codegen::ReadCall(module, *node),
                                   numbers.values_.at(result));
    if (!added.ok()) return Annotate(added, absl::StrCat("node ", node->name));
  }
  return absl::OkStatus();
}

absl::Status ValueNumbers::Declare(const relay::Value& value,
                                   std::vector<TensorSpec>* tensors) {
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> shape,
                         codegen::KnownShape(value.type()));
  tensors->push_back({value.type().dtype, std::move(shape)});
  const auto number = static_cast<int64_t>(values_.size());
  if (!values_.emplace(value, number).second) {
    return absl::UnimplementedError("a value leaves the region twice");
  }
  return absl::OkStatus();
}

absl::Status ValueNumbers::DeclareTemporary(const relay::Value& value) {
  if (values_.count(value) > 0) return absl::OkStatus();
  INGOT_ASSIGN_OR_RETURN(const int64_t elements,
                         codegen::KnownElements(value.type()));
  region_.temporaries.push_back(elements);
  values_.emplace(value, static_cast<int64_t>(values_.size()));
  return absl::OkStatus();
}

}  // namespace ingot::library_calls
