#include "compiler/frontends/onnx/converters.h"

#include "compiler/frontends/onnx/text_moves.h"

namespace ingot::onnx_frontend {

void ConverterTable::Add(absl::string_view op, Converter converter,
                         absl::string_view domain) {
  converters_[{std::string(domain), std::string(op)}] = std::move(converter);
}

const Converter* ConverterTable::Find(absl::string_view domain,
                                      absl::string_view op) const {
  auto it = converters_.find({std::string(domain), std::string(op)});
  return it == converters_.end() ? nullptr : &it->second;
}

std::vector<std::pair<std::string, std::string>> ConverterTable::Names() const {
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [name, converter] : converters_) names.push_back(name);
  return names;
}

namespace {

// What only moves elements, whatever they stand for.
constexpr absl::string_view kMovers[] = {
    "Concat", "Expand",  "Flatten", "Gather",    "Reshape",  "Slice",
    "Split",  "Squeeze", "Tile",    "Transpose", "Unsqueeze"};

// What moves text: these as well.
constexpr absl::string_view kTextMovers[] = {
    "Compress",       "Concat",   "Expand",  "Flatten",         "Gather",
    "GatherElements", "GatherND", "Reshape", "ReverseSequence", "Slice",
    "Split",          "Squeeze",  "Tile",    "Transpose",       "Unsqueeze",
    "Where"};

Converter Moves(const Converter& converter) {
  return [converter](NodeContext& c) -> absl::Status {
    if (c.stored(0) == 0) return converter(c);
    INGOT_RETURN_IF_ERROR(c.AllowStored());
    INGOT_RETURN_IF_ERROR(converter(c));
    for (Binding& output : c.outputs()) output.stored = c.stored(0);
    return absl::OkStatus();
  };
}

}  // namespace

const ConverterTable& AllConverters() {
  static const ConverterTable* const table = [] {
    auto* t = new ConverterTable;
#define INGOT_ADD_CONVERTERS(name) Add##name##Converters(t);
    INGOT_CONVERTER_FAMILIES(INGOT_ADD_CONVERTERS)
#undef INGOT_ADD_CONVERTERS
    for (absl::string_view op : kMovers) t->Add(op, Moves(*t->Find("", op)));
    for (absl::string_view op : kTextMovers) {
      t->Add(op, MovesText(*t->Find("", op)));
    }
    return t;
  }();
  return *table;
}

}  // namespace ingot::onnx_frontend
