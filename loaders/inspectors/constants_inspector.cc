#include "loaders/inspectors/constants_inspector.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "runtime/float16.h"
#include "runtime/safetensors.h"

namespace ingot {
namespace {

struct Summary {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;

  void Add(double value) {
    // A NaN must show: min and max would skip it.
    min = std::isnan(value) || std::isnan(min) ? NAN : std::min(min, value);
    max = std::isnan(value) || std::isnan(max) ? NAN : std::max(max, value);
    sum += value;
  }
};

template <typename T>
Summary Summarize(const Tensor& tensor, double (*convert)(T)) {
  Summary summary;
  for (T value : tensor.values<T>()) summary.Add(convert(value));
  return summary;
}

template <typename T>
Summary SummarizeAs(const Tensor& tensor) {
  return Summarize<T>(tensor, [](T v) { return static_cast<double>(v); });
}

Summary Summarize(const Tensor& tensor) {
  const DataType t = tensor.dtype();
  if (t == DataType::Float(64)) return SummarizeAs<double>(tensor);
  if (t == DataType::Float(32)) return SummarizeAs<float>(tensor);
  if (t == DataType::Float(16)) {
    return Summarize<uint16_t>(
        tensor, [](uint16_t v) { return static_cast<double>(HalfToFloat(v)); });
  }
  if (t == DataType::BFloat16()) {
    return Summarize<uint16_t>(tensor, [](uint16_t v) {
      return static_cast<double>(BFloat16ToFloat(v));
    });
  }
  if (t == DataType::Int(64)) return SummarizeAs<int64_t>(tensor);
  if (t == DataType::Int(32)) return SummarizeAs<int32_t>(tensor);
  if (t == DataType::Int(16)) return SummarizeAs<int16_t>(tensor);
  if (t == DataType::Int(8)) return SummarizeAs<int8_t>(tensor);
  if (t == DataType::UInt(64)) return SummarizeAs<uint64_t>(tensor);
  if (t == DataType::UInt(32)) return SummarizeAs<uint32_t>(tensor);
  if (t == DataType::UInt(16)) return SummarizeAs<uint16_t>(tensor);
  return SummarizeAs<uint8_t>(tensor);
}

}  // namespace

absl::Status RegisterConstantsInspector(InspectorRegistry* inspectors) {
  InspectorRule rule;
  rule.name = "constants";
  rule.loader = kConstantsLoader;
  rule.output_suffix = ".txt";
  rule.inspect = [](const Artifact& artifact) -> absl::StatusOr<std::string> {
    INGOT_ASSIGN_OR_RETURN(auto tensors, ReadSafetensors(artifact.content));
    size_t name_width = 4, type_width = 4;
    for (const auto& [name, tensor] : tensors) {
      name_width = std::max(name_width, name.size());
      type_width = std::max(type_width, tensor.TypeString().size());
    }
    std::string text =
        absl::StrFormat("%-*s  %-*s  %14s  %14s  %14s\n", name_width, "name",
                        type_width, "type", "min", "max", "mean");
    for (const auto& [name, tensor] : tensors) {
      absl::StrAppendFormat(&text, "%-*s  %-*s", name_width, name, type_width,
                            tensor.TypeString());
      if (tensor.NumElements() == 0) {
        absl::StrAppendFormat(&text, "  %14s  %14s  %14s\n", "-", "-", "-");
        continue;
      }
      const Summary s = Summarize(tensor);
      absl::StrAppendFormat(&text, "  %14.6g  %14.6g  %14.6g\n", s.min, s.max,
                            s.sum / tensor.NumElements());
    }
    return text;
  };
  return inspectors->Register(std::move(rule));
}

}  // namespace ingot
