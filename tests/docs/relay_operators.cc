#include "tests/docs/relay_operators.h"

#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/relay/op.h"
#include "compiler/relay/printer.h"

namespace ingot {
namespace {

constexpr char kHead[] = R"(# Relay's operators

A region may hold these operators: a page for those who write a backend, a pass or a frontend. A program makes it from the
operators' definitions in `compiler/relay/ops`; `bazel test //tests/docs:relay_operators_test` says how to make it again.

- **Operands** are tensors, and some operators take or give sequences of tensors. Where a range is given, those at the end may be left
  out; *any* stands for one or more.
- **Fusion** is how an operator's loops relate to those around it: *elementwise* (an output element reads the elements at its own
  index), *broadcast* (some dimensions are repeated), *injective* (reads one place), *reduction*, *anchor* (a convolution or a
  product, whose epilogue takes what follows), *view* (no data moves), *opaque* (always alone). An *executor step* is work that
  the executor does itself; no target sees it. Operators *without loops* are computed only by a target that knows them.
- **Traits** are what passes may know beyond that; `compiler/relay/op.h` says what each of them means.
- **Attributes** have the types that relay's text shows: `groups=1`, `alpha=0.5`, `mode="linear"`, `pads=[0, 0]`, `dtype=f32`,
  `sizes=(N, 2 * M)`. An attribute that is left out has its default; *each* means that value for each
  dimension. Layouts, such as `NCHW`, are attributes too.
)";

const char* FusionName(relay::FusionKind kind) {
  switch (kind) {
    case relay::FusionKind::kElementwise:
      return "elementwise";
    case relay::FusionKind::kBroadcast:
      return "broadcast";
    case relay::FusionKind::kInjective:
      return "injective";
    case relay::FusionKind::kReduction:
      return "reduction";
    case relay::FusionKind::kAnchor:
      return "anchor";
    case relay::FusionKind::kView:
      return "view";
    case relay::FusionKind::kOpaque:
      return "opaque";
  }
  return "";
}

const char* TypeName(relay::AttrKind kind) {
  switch (kind) {
    case relay::AttrKind::kInt:
      return "integer";
    case relay::AttrKind::kFloat:
      return "number";
    case relay::AttrKind::kString:
      return "string";
    case relay::AttrKind::kInts:
      return "integers";
    case relay::AttrKind::kFloats:
      return "numbers";
    case relay::AttrKind::kStrings:
      return "strings";
    case relay::AttrKind::kDataType:
      return "element type";
    case relay::AttrKind::kShape:
      return "shape";
  }
  return "";
}

// "2 operands", "1 to 3 operands".
std::string Operands(const relay::OpDef& op) {
  if (op.max_inputs < 0) {
    return op.min_inputs <= 1
               ? std::string("any operands")
               : absl::StrCat(op.min_inputs, " or more operands");
  }
  const std::string most = absl::StrCat(
      op.max_inputs, op.max_inputs == 1 ? " operand" : " operands");
  return op.min_inputs == op.max_inputs
             ? most
             : absl::StrCat(op.min_inputs, " to ", most);
}

// "reduction", "executor step of sequences", "opaque; without loops".
std::string Work(const relay::OpDef& op) {
  if (op.role() == relay::OpRole::kExecutorStep) {
    return op.TakesSequences() ? "executor step, of sequences"
                               : "executor step";
  }
  return absl::StrCat(FusionName(op.fusion),
                      op.BackendOnly() ? "; without loops" : "");
}

std::string Traits(const relay::OpDef& op) {
  static constexpr std::pair<relay::Trait, const char*> kNames[] = {
      {relay::kCommutes, "commutes"},
      {relay::kCheap, "cheap"},
      {relay::kReadsOnce, "reads once"},
      {relay::kOperandsInMemory, "operands in memory"},
      {relay::kPacksOperands, "packs operands"},
      {relay::kPermutes, "permutes"},
      {relay::kNeverGrows, "never grows"},
      {relay::kUniform, "uniform"},
      {relay::kJumps, "jumps"},
      {relay::kDequantizes, "dequantizes"},
      {relay::kTimesMatrix, "times matrix"},
      {relay::kTimesTranspose, "times transpose"},
      {relay::kJoins, "joins"},
      {relay::kCuts, "cuts"}};
  std::vector<std::string> names;
  for (const auto& [trait, name] : kNames) {
    if (op.Has(trait)) names.push_back(name);
  }
  return absl::StrJoin(names, ", ");
}

// The value that a call without the attribute has.
std::string Default(const relay::AttrSpec& attr) {
  if (attr.required) return "required";
  if (!attr.default_value) return "";
  if (!attr.repeats) {
    return absl::StrCat("`", relay::Print(*attr.default_value), "`");
  }
  const auto& each = std::get<std::vector<int64_t>>(*attr.default_value);
  return absl::StrCat("each `", each[0], "`");
}

}  // namespace

std::string RelayOperatorsDocument() {
  std::string text = kHead;
  for (const relay::OpDef* op : relay::StandardOps().All()) {
    absl::StrAppend(&text, "\n## ", op->name, "\n\n", op->doc, "\n\n",
                    Operands(*op), "; ", Work(*op), "\n");
    if (const std::string traits = Traits(*op); !traits.empty()) {
      absl::StrAppend(&text, "\nTraits: ", traits, "\n");
    }
    if (op->attrs.empty()) continue;
    absl::StrAppend(&text,
                    "\n| attribute | type | default | meaning |\n"
                    "| --- | --- | --- | --- |\n");
    for (const relay::AttrSpec& attr : op->attrs) {
      absl::StrAppend(&text, "| `", attr.name, "` | ", TypeName(attr.kind),
                      " | ", Default(attr), " | ", attr.doc, " |\n");
    }
  }
  return text;
}

}  // namespace ingot
