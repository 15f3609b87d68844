// Operators that a model has, Ingot does not know and a backend does.
#include "compiler/relay/ops/common.h"
namespace ingot::relay::ops {
namespace {

// The attributes hold the types of the results, since only the backend could
// infer them.
absl::StatusOr<Types> InferCustom(const InferContext& c) {
  const auto& dtypes = c.attrs.Get<std::vector<std::string>>("dtypes");
  const auto& ranks = c.attrs.Get<std::vector<int64_t>>("ranks");
  const Shape& dims = c.attrs.Get<Shape>("shapes");
  const int64_t operands = c.attrs.Get<int64_t>("operands");
  if (operands < 0 || static_cast<size_t>(operands) > c.inputs.size()) {
    return Invalid("operands is ", operands, ", of ", c.inputs.size());
  }
  if (dtypes.empty() || dtypes.size() != ranks.size()) {
    return Invalid("dtypes and ranks must be as many as the results");
  }
  Types types;
  size_t next = 0;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    if (ranks[i] < 0 || static_cast<size_t>(ranks[i]) > dims.size() - next) {
      return Invalid("shapes must have as many dimensions as ranks say");
    }
    INGOT_ASSIGN_OR_RETURN(const DataType dtype, DataType::Parse(dtypes[i]));
    const auto first = dims.begin() + static_cast<int64_t>(next);
    types.push_back({dtype, Shape(first, first + ranks[i])});
    next += static_cast<size_t>(ranks[i]);
  }
  if (next != dims.size()) {
    return Invalid("shapes must have as many dimensions as ranks say");
  }
  return types;
}

OpDef Custom() {
  OpDef def;
  def.name = "custom";
  def.doc = "an operator of a backend's own; equal operands, equal results";
  def.min_inputs = 0;
  def.max_inputs = -1;
  def.attrs = {
      StringAttr("name", "domain::operator", kRequired),
      StringAttr("attributes", "its attributes in the model, as JSON",
                 kRequired),
      IntAttr("operands", "how many; values after these bind symbols",
              kRequired),
      StringsAttr("dtypes", "of the results", std::vector<std::string>()),
      IntsAttr("ranks", "of the results", kRequired),
      ShapeAttr("shapes", "of the results, one after the other", kRequired)};
  def.infer = InferCustom;
  return def;
}

}  // namespace

absl::Status RegisterCustom(OpRegistry* registry) {
  return RegisterAllOf(registry, {Custom()});
}

}  // namespace ingot::relay::ops
