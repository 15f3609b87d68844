// The table of converters: what imports each ONNX operator. One file a family
// adds its entries.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_CONVERTERS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_CONVERTERS_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/frontends/onnx/context.h"

namespace ingot::onnx_frontend {

// The newest operator set of ONNX's own domain that is known.
inline constexpr int kNewestOpset = 23;

inline constexpr char kMicrosoftDomain[] = "com.microsoft";

// Sets the node's outputs. The context knows the operator set's version.
using Converter = std::function<absl::Status(NodeContext&)>;

class ConverterTable {
 public:
  // "" is ONNX's own domain.
  void Add(absl::string_view op, Converter converter,
           absl::string_view domain = "");
  const Converter* Find(absl::string_view domain, absl::string_view op) const;
  // Domain and operator of every entry, in order.
  std::vector<std::pair<std::string, std::string>> Names() const;

 private:
  std::map<std::pair<std::string, std::string>, Converter> converters_;
};

// Every converter there is. Thread-safe to read.
const ConverterTable& AllConverters();

void AddElementwiseConverters(ConverterTable* table);
void AddConvolutionConverters(ConverterTable* table);
void AddMatmulConverters(ConverterTable* table);
void AddPoolConverters(ConverterTable* table);
void AddNormalizationConverters(ConverterTable* table);
void AddReductionConverters(ConverterTable* table);
void AddShapeConverters(ConverterTable* table);
void AddRearrangeConverters(ConverterTable* table);
void AddPadConverter(ConverterTable* table);
void AddIndexingConverters(ConverterTable* table);
void AddGenerateConverters(ConverterTable* table);
void AddResizeConverters(ConverterTable* table);
void AddRecurrentConverters(ConverterTable* table);
void AddQuantizeConverters(ConverterTable* table);
void AddSequenceConverters(ConverterTable* table);
void AddSequenceMapConverter(ConverterTable* table);
void AddControlFlowConverters(ConverterTable* table);
void AddLossConverters(ConverterTable* table);
void AddSignalConverters(ConverterTable* table);
void AddAttentionConverters(ConverterTable* table);
void AddMicrosoftConverters(ConverterTable* table);
void AddMicrosoftNormalizationConverters(ConverterTable* table);
void AddMicrosoftQuantizeConverters(ConverterTable* table);
void AddImageConverters(ConverterTable* table);
void AddRandomConverters(ConverterTable* table);
void AddTextConverters(ConverterTable* table);
void AddTrainingConverters(ConverterTable* table);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_CONVERTERS_H_
