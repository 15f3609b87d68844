#include "loaders/inspectors/constants_inspector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "loaders/inspectors/tensor_values.h"
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

}  // namespace

absl::Status RegisterConstantsInspector(InspectorRegistry* inspectors) {
  InspectorRule rule;
  rule.name = "constants";
  rule.loader = kConstantsLoader;
  rule.output_suffix = ".txt";
  rule.inspect = [](const Artifact& artifact,
                    const ArtifactSet&) -> absl::StatusOr<std::string> {
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
      Summary s;
      ForEachValue(tensor, [&s](double value) { s.Add(value); });
      absl::StrAppendFormat(&text, "  %14.6g  %14.6g  %14.6g\n", s.min, s.max,
                            s.sum / tensor.NumElements());
    }
    return text;
  };
  return inspectors->Register(std::move(rule));
}

}  // namespace ingot
