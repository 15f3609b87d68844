#include "compiler/frontends/relay/input_shapes.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/dim.h"
#include "compiler/tir/visitor.h"

namespace ingot {
namespace {

using Numbers = std::map<const tir::Var*, tir::Expr>;

absl::Status BindInput(const relay::Node& input,
                       const std::vector<int64_t>& extents, Numbers* numbers) {
  const relay::TensorType& type = input.outputs[0];
  auto error = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input '", input.name, "' is ", relay::ToString(type), ": ", what));
  };
  if (type.is_sequence || type.shape.size() != extents.size()) {
    return error(absl::StrCat("the shape given for it has ", extents.size(),
                              " dimensions"));
  }
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == -1) continue;
    const tir::Expr extent = tir::MakeInt(extents[d]);
    const auto* symbol = tir::As<tir::Var>(type.shape[d]);
    if (extents[d] < 0 ||
        (symbol == nullptr && !relay::SameShape({type.shape[d]}, {extent}))) {
      return error(absl::StrCat("dimension ", d, " cannot be ", extents[d]));
    }
    if (symbol == nullptr) continue;
    const auto [known, added] = numbers->emplace(symbol, extent);
    if (!added && !relay::SameShape({known->second}, {extent})) {
      return error(absl::StrCat("dimension ", d, " is given as ", extents[d],
                                " and differently"));
    }
  }
  return absl::OkStatus();
}

relay::Shape With(const Numbers& numbers, const relay::Shape& shape) {
  relay::Shape result;
  for (const relay::Dim& dim : shape) {
    result.push_back(relay::SimplifyDim(tir::Substitute(dim, numbers)));
  }
  return result;
}

}  // namespace

absl::Status SetInputShapes(
    const std::map<std::string, std::vector<int64_t>>& shapes,
    relay::Module* module) {
  Numbers numbers;
  for (const auto& [name, extents] : shapes) {
    const relay::Node* found = nullptr;
    for (const relay::Node* input : module->main()->inputs) {
      if (input->name == name) found = input;
    }
    if (found == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a shape was given for '", name, "', which is no input of @main"));
    }
    INGOT_RETURN_IF_ERROR(BindInput(*found, extents, &numbers));
  }
  if (numbers.empty()) return absl::OkStatus();
  for (const auto& function : module->functions()) {
    for (const auto& node : function->nodes()) {
      for (relay::TensorType& type : node->outputs) {
        type.shape = With(numbers, type.shape);
      }
      const std::map<std::string, relay::AttrValue> attrs =
          node->attrs.values();
      for (const auto& [name, value] : attrs) {
        const auto* shape = std::get_if<relay::Shape>(&value);
        if (shape != nullptr) node->attrs.Set(name, With(numbers, *shape));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot
