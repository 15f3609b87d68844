#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {

void ConverterTable::Add(absl::string_view op, Converter converter,
                         absl::string_view domain) {
  converters_[{std::string(domain), std::string(op)}] = std::move(converter);
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
  auto it = converters_.find({std::string(domain), std::string(op)});
  return it == converters_.end() ? nullptr : &it->second;
}

std::vector<std::pair<std::string, std::string>> ConverterTable::Names() const {
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [name, converter] : converters_) names.push_back(name);
  return names;
}

}  // namespace ingot::onnx_frontend
