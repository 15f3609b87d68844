#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {

void ConverterTable::Add(absl::string_view op, int since, Converter converter,
                         absl::string_view domain) {
  entries_[{std::string(domain), std::string(op)}] = {since,
                                                      std::move(converter)};
}

void ConverterTable::Replace(absl::string_view op, Converter converter) {
  entries_.at({"", std::string(op)}).converter = std::move(converter);
}

void ConverterTable::ChangesIn(absl::string_view op, int opset) {
  changes_in_[std::string(op)] = opset;
}

const Converter* ConverterTable::Find(absl::string_view domain,
                                      absl::string_view op, int opset) const {
  if (domain.empty()) {
    auto change = changes_in_.find(std::string(op));
    if (change != changes_in_.end() && opset >= change->second) return nullptr;
  }
  auto it = entries_.find({std::string(domain), std::string(op)});
  return it == entries_.end() ? nullptr : &it->second.converter;
}

std::map<std::pair<std::string, std::string>, int> ConverterTable::Since()
    const {
  std::map<std::pair<std::string, std::string>, int> since;
  for (const auto& [name, entry] : entries_) since[name] = entry.since;
  return since;
}

}  // namespace ingot::onnx_frontend
