// Maps, which are no values here: rows of numbers stand for them, whose columns
// are the keys.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/ml/rows.h"
#include "compiler/frontends/onnx/ml/scores.h"

namespace ingot::onnx_frontend {
namespace {

// The keys for people, the first of them.
std::string Shown(const ClassLabels& keys) {
  constexpr int64_t kShown = 10;
  std::vector<std::string> shown;
  for (int64_t i = 0; i < std::min(keys.count(), kShown); ++i) {
    shown.push_back(keys.is_text ? absl::StrCat("'", keys.strings[i], "'")
                                 : absl::StrCat(keys.integers[i]));
  }
  if (keys.count() > kShown) shown.push_back("...");
  return absl::StrJoin(shown, ", ");
}

// A map for each row gives way to the row itself.
absl::Status ZipMap(NodeContext& c) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(const ClassLabels keys,
                         ReadLabels(c, "classlabels_int64s"));
  const Value x = Rows(k);
  c.SetOutput(0, FixColumns(k, x, keys.count()));
  INGOT_RETURN_IF_ERROR(k.status());
  c.Warn(
      "gives a tensor, not maps: a row for each, whose columns are of the "
      "keys ",
      Shown(keys), " (as exporters do that are given zipmap=False)");
  return absl::OkStatus();
}

}  // namespace

void AddMapsConverters(ConverterTable* t) {
  t->Add("ZipMap", 1, &ZipMap, kMlDomain);
}

}  // namespace ingot::onnx_frontend
