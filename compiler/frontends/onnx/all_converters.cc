// The table of every converter.
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/text/text_moves.h"

namespace ingot::onnx_frontend {

namespace {

// Operators that only move elements, whatever the elements stand for.
constexpr absl::string_view kMovers[] = {
    "Concat",  "Expand",    "Flatten",  "Gather",  "Pad",
    "Reshape", "Slice",     "Split",    "Squeeze", "TensorScatter",
    "Tile",    "Transpose", "Unsqueeze"};

// Operators that move text as well.
constexpr absl::string_view kTextMovers[] = {
    "Compress", "Concat",          "Expand",
    "Flatten",  "Gather",          "GatherElements",
    "GatherND", "Reshape",         "ReverseSequence",
    "Scatter",  "ScatterElements", "ScatterND",
    "Slice",    "Split",           "Squeeze",
    "Tile",     "Transpose",       "Unsqueeze",
    "Where"};

Converter Moves(const Converter& converter) {
  return [converter](NodeContext& c) -> absl::Status {
    if (c.storage(0) == StorageType::kNone) return converter(c);
    INGOT_RETURN_IF_ERROR(c.AllowStorageTypes());
    INGOT_RETURN_IF_ERROR(converter(c));
    for (Binding& output : c.outputs()) output.storage = c.storage(0);
    return absl::OkStatus();
  };
}

}  // namespace

const ConverterTable& AllConverters() {
  static const ConverterTable* const table = [] {
    auto* t = new ConverterTable;
    AddMathRoom(t);
    AddLayersRoom(t);
    AddShapeRoom(t);
    AddImageRoom(t);
    AddControlRoom(t);
    AddMlRoom(t);
    AddTextRoom(t);  // after the operators to which it adds text
    for (absl::string_view op : kMovers) {
      t->Replace(op, Moves(*t->Find("", op)));
    }
    for (absl::string_view op : kTextMovers) {
      t->Replace(op, WithTextSupport(*t->Find("", op)));
    }
    return t;
  }();
  return *table;
}

}  // namespace ingot::onnx_frontend
