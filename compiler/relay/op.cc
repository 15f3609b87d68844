#include "compiler/relay/op.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/tir/expr_size.h"

namespace ingot::relay {
namespace {

// More bytes than any tensor that a machine holds: what is larger comes from a
// damaged or hostile model, and sums of a few such sizes still fit in 64 bits.
constexpr int64_t kMaxTensorBytes = int64_t{1} << 48;

// Index in AttrValue's list of types, in the order of AttrKind.
bool Fits(const AttrValue& value, AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt:
      return std::holds_alternative<int64_t>(value);
    case AttrKind::kFloat:
      return std::holds_alternative<double>(value);
    case AttrKind::kString:
      return std::holds_alternative<std::string>(value);
    case AttrKind::kInts:
      return std::holds_alternative<std::vector<int64_t>>(value);
    case AttrKind::kFloats:
      return std::holds_alternative<std::vector<double>>(value);
    case AttrKind::kStrings:
      return std::holds_alternative<std::vector<std::string>>(value);
    case AttrKind::kDataType:
      return std::holds_alternative<DataType>(value);
    case AttrKind::kShape:
      return std::holds_alternative<Shape>(value);
  }
  return false;
}

absl::string_view KindName(AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt:
      return "an integer";
    case AttrKind::kFloat:
      return "a number";
    case AttrKind::kString:
      return "a string";
    case AttrKind::kInts:
      return "a list of integers";
    case AttrKind::kFloats:
      return "a list of numbers";
    case AttrKind::kStrings:
      return "a list of strings";
    case AttrKind::kDataType:
      return "a data type";
    case AttrKind::kShape:
      return "a shape";
  }
  return "";
}

absl::Status CheckAttrs(const OpDef& op, const Attrs& attrs) {
  for (const auto& [name, value] : attrs.values()) {
    if (name == "target" && std::holds_alternative<std::string>(value)) {
      continue;  // any call may be pinned to a target
    }
    const AttrSpec* spec = op.FindAttr(name);
    if (spec == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(op.name, ": has no attribute '", name, "'; it has: ",
                       absl::StrJoin(op.attrs, ", ",
                                     [](std::string* out, const AttrSpec& s) {
                                       absl::StrAppend(out, s.name);
                                     })));
    }
    if (!Fits(value, spec->kind)) {
      return absl::InvalidArgumentError(absl::StrCat(
          op.name, ": attribute '", name, "' must be ", KindName(spec->kind)));
    }
    if (const Shape* shape = std::get_if<Shape>(&value)) {
      for (const Dim& dim : *shape) {
        if (dim == nullptr || dim->dtype != DataType::Int(64)) {
          return absl::InvalidArgumentError(absl::StrCat(
              op.name, ": attribute '", name, "' is not made of i64 values"));
        }
        if (absl::Status size = CheckDimSize(dim); !size.ok()) {
          return Annotate(size,
                          absl::StrCat(op.name, ": attribute '", name, "'"));
        }
      }
    }
  }
  for (const AttrSpec& spec : op.attrs) {
    if (spec.required && !attrs.Has(spec.name)) {
      return absl::InvalidArgumentError(
          absl::StrCat(op.name, ": attribute '", spec.name, "' is missing"));
    }
  }
  return absl::OkStatus();
}

// Finds mistakes in a definition that would make a call go wrong later.
absl::Status CheckDefinition(const OpDef& op) {
  for (const AttrSpec& spec : op.attrs) {
    const std::optional<AttrValue>& value = spec.default_value;
    const bool fits = !value || (!spec.required && Fits(*value, spec.kind) &&
                                 spec.kind != AttrKind::kShape);
    const auto* list =
        value ? std::get_if<std::vector<int64_t>>(&*value) : nullptr;
    const bool repeats =
        !spec.repeats || (list != nullptr && list->size() == 1);
    if (!fits || !repeats || op.FindAttr(spec.name) != &spec) {
      return absl::InvalidArgumentError(
          absl::StrCat(op.name, ": the definition of attribute '", spec.name,
                       "' contradicts itself"));
    }
  }
  const bool computes = op.compute != nullptr || op.compute_known != nullptr;
  if (op.infer == nullptr || (computes && op.role() != OpRole::kKernel) ||
      (op.step != ExecutorStep::kNone && op.fusion != FusionKind::kOpaque)) {
    return absl::InvalidArgumentError(
        absl::StrCat(op.name, ": the definition contradicts itself"));
  }
  return absl::OkStatus();
}

// Types that later stages may compute sizes of without a check.
absl::Status CheckType(const TensorType& type) {
  const int64_t element = static_cast<int64_t>(type.dtype.bytes());
  if (element < 1 || type.dtype.lanes != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a tensor of ", type.dtype.ToString(), " cannot be a result"));
  }
  if (type.is_sequence && !type.shape.empty()) {
    return absl::InternalError("a sequence has no shape");
  }
  if (type.shape.size() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("a result would have ", type.shape.size(), " dimensions; ",
                     kMaxRank, " are supported"));
  }
  int64_t bytes = element;
  for (const Dim& dim : type.shape) {
    if (dim == nullptr || dim->dtype != DataType::Int(64)) {
      return absl::InternalError("a dimension is not an i64 value");
    }
    INGOT_RETURN_IF_ERROR(CheckDimSize(dim));
    int64_t value;
    if (!tir::AsConstInt(dim, &value)) continue;
    if (value < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the result ", ToString(type), " would have a negative dimension"));
    }
    if (value > 0 && bytes > kMaxTensorBytes / value) {
      return absl::InvalidArgumentError(
          absl::StrCat("the result ", ToString(type), " would be too large"));
    }
    // A zero makes the whole tensor empty, whatever the other dimensions.
    if (value > 0) bytes *= value;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDimSize(const Dim& dim) {
  if (tir::ExprSize(dim, kMaxDimSize) <= kMaxDimSize) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a dimension is a formula of more than ", kMaxDimSize, " terms"));
}

// Defined here, since each family of operators would compile all of this.
AttrSpec::AttrSpec(std::string name, AttrKind kind, std::string doc,
                   bool required, std::optional<AttrValue> default_value,
                   bool repeats)
    : name(std::move(name)),
      kind(kind),
      doc(std::move(doc)),
      required(required),
      default_value(std::move(default_value)),
      repeats(repeats) {}
AttrSpec::AttrSpec(const AttrSpec&) = default;
AttrSpec::AttrSpec(AttrSpec&&) noexcept = default;
AttrSpec& AttrSpec::operator=(const AttrSpec&) = default;
AttrSpec& AttrSpec::operator=(AttrSpec&&) noexcept = default;
AttrSpec::~AttrSpec() = default;

OpDef::OpDef() = default;
OpDef::OpDef(const OpDef&) = default;
OpDef::OpDef(OpDef&&) noexcept = default;
OpDef& OpDef::operator=(const OpDef&) = default;
OpDef& OpDef::operator=(OpDef&&) noexcept = default;
OpDef::~OpDef() = default;

const AttrSpec* OpDef::FindAttr(absl::string_view attr) const {
  for (const AttrSpec& spec : attrs) {
    if (spec.name == attr) return &spec;
  }
  return nullptr;
}

absl::Status OpRegistry::Register(OpDef def) {
  INGOT_RETURN_IF_ERROR(CheckDefinition(def));
  std::string name = def.name;
  if (!ops_.emplace(name, std::move(def)).second) {
    return absl::AlreadyExistsError(
        absl::StrCat("operator '", name, "' is defined twice"));
  }
  return absl::OkStatus();
}

const OpDef* OpRegistry::Find(absl::string_view name) const {
  auto it = ops_.find(std::string(name));
  return it == ops_.end() ? nullptr : &it->second;
}

std::vector<const OpDef*> OpRegistry::All() const {
  std::vector<const OpDef*> all;
  all.reserve(ops_.size());
  for (const auto& [name, def] : ops_) all.push_back(&def);
  return all;
}

absl::StatusOr<std::vector<TensorType>> InferTypes(
    const OpDef& op, absl::Span<const Value> inputs, const Attrs& attrs,
    std::vector<DimAssumption>* assumed) {
  const int count = static_cast<int>(inputs.size());
  if (count < op.min_inputs || (op.max_inputs >= 0 && count > op.max_inputs)) {
    const std::string expected =
        op.max_inputs < 0 ? absl::StrCat("at least ", op.min_inputs)
        : op.min_inputs == op.max_inputs
            ? absl::StrCat(op.min_inputs)
            : absl::StrCat(op.min_inputs, " to ", op.max_inputs);
    return absl::InvalidArgumentError(
        absl::StrCat(op.name, ": takes ", expected, " operands, not ", count));
  }
  for (int i = 0; i < count; ++i) {
    if (inputs[i].node == nullptr) {
      if (i < op.min_inputs) {
        return absl::InvalidArgumentError(
            absl::StrCat(op.name, ": operand ", i, " is missing"));
      }
      continue;
    }
    if (inputs[i].index < 0 ||
        inputs[i].index >= static_cast<int>(inputs[i].node->outputs.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat(op.name, ": operand ", i, " is result ", inputs[i].index,
                       " of a node that has ", inputs[i].node->outputs.size()));
    }
    if (inputs[i].type().is_sequence && !op.TakesSequences()) {
      return absl::InvalidArgumentError(absl::StrCat(
          op.name, ": operand ", i, " is a ", ToString(inputs[i].type())));
    }
  }
  INGOT_RETURN_IF_ERROR(CheckAttrs(op, attrs));
  Attrs bound;
  if (attrs.op() != &op) {
    bound = attrs;
    bound.BindTo(op);
  }
  absl::StatusOr<std::vector<TensorType>> types = op.infer(
      InferContext{inputs, attrs.op() == &op ? attrs : bound, assumed});
  if (!types.ok()) {
    // Inference may have said the operator's name already.
    const absl::string_view message = types.status().message();
    if (message.substr(0, op.name.size()) == op.name) return types.status();
    return Annotate(types.status(), op.name);
  }
  for (const TensorType& type : *types) {
    if (absl::Status status = CheckType(type); !status.ok()) {
      return Annotate(status, op.name);
    }
  }
  return types;
}

}  // namespace ingot::relay
