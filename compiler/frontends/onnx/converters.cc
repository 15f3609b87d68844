#include "compiler/frontends/onnx/converters.h"

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

const ConverterTable& AllConverters() {
  static const ConverterTable* const table = [] {
    auto* t = new ConverterTable;
    AddElementwiseConverters(t);
    AddConvolutionConverters(t);
    AddMatmulConverters(t);
    AddPoolConverters(t);
    AddNormalizationConverters(t);
    AddReductionConverters(t);
    AddShapeConverters(t);
    AddRearrangeConverters(t);
    AddIndexingConverters(t);
    AddGenerateConverters(t);
    AddResizeConverters(t);
    AddRecurrentConverters(t);
    AddQuantizeConverters(t);
    AddSequenceConverters(t);
    AddControlFlowConverters(t);
    AddLossConverters(t);
    AddSignalConverters(t);
    AddAttentionConverters(t);
    AddMicrosoftConverters(t);
    AddMicrosoftNormalizationConverters(t);
    AddMicrosoftQuantizeConverters(t);
    AddImageConverters(t);
    AddTextConverters(t);
    AddTrainingConverters(t);
    return t;
  }();
  return *table;
}

}  // namespace ingot::onnx_frontend
