#include "tests/docs/relay_operators.h"

#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"

namespace ingot {
namespace {

constexpr char kHead[] = R"(# Relay's operators

What a region may hold, for those who write a backend, a pass or a frontend. A program makes this page from the operators'
definitions in `compiler/relay/ops`; `bazel test //tests/docs:relay_operators_test` says how to make it again.

- **Operands** are tensors, and some operators take or give lists of tensors. Where a range is given, those at the end may be left
  out; *any* stands for one or more.
- **Fusion** is how an operator's loops relate to those around it: *elementwise* (an output element reads the elements at its own
  index), *broadcast* (some dimensions are repeated), *injective* (reads one place), *reduction*, *anchor* (a convolution or a
  product, whose epilogue takes what follows), *view* (no data moves), *opaque* (always alone), *plan* (what runs the model does
  it; no target sees it). Operators *without loops* are computed only by a target that knows them.
- **Attributes** have the types that relay's text shows: `groups=1`, `alpha=0.5`, `mode="linear"`, `pads=[0, 0]`, `dtype=f32`,
  `sizes=(N, 2 * M)`. In relay's text an attribute that is left out has its default, which its line names where it has one.
  Layouts, such as `NCHW`, are attributes too.
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
    case relay::FusionKind::kPlan:
      return "plan";
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

}  // namespace

std::string RelayOperatorsDocument() {
  std::string text = kHead;
  for (const relay::OpDef* op : relay::StandardOps().All()) {
    absl::StrAppend(&text, "\n## ", op->name, "\n\n", op->doc, "\n\n",
                    Operands(*op), "; ", FusionName(op->fusion),
                    op->on_lists ? "; of lists" : "",
                    op->NeedsTarget() ? "; without loops" : "", "\n");
    if (op->attrs.empty()) continue;
    absl::StrAppend(
        &text,
        "\n| attribute | type | meaning, default |\n| --- | --- | --- |\n");
    for (const relay::AttrSpec& attr : op->attrs) {
      absl::StrAppend(&text, "| `", attr.name, "` | ", TypeName(attr.kind),
                      attr.required ? ", required" : "", " | ", attr.doc,
                      " |\n");
    }
  }
  return text;
}

}  // namespace ingot
