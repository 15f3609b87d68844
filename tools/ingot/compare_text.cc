#include "tools/ingot/compare_text.h"

#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ingot {
namespace {

bool IsText(const Tensor& tensor) {
  return tensor.dtype() == DataType::UInt(8) && !tensor.shape().empty();
}

absl::Span<const int64_t> ShapeOfStrings(const Tensor& tensor) {
  absl::Span<const int64_t> shape = tensor.shape();
  shape.remove_suffix(1);
  return shape;
}

// String `i`, without the zeros after it.
absl::string_view StringAt(const Tensor& tensor, int64_t i) {
  const int64_t width = tensor.shape().back();
  absl::string_view text(
      static_cast<const char*>(tensor.raw_data()) + i * width,
      static_cast<size_t>(width));
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  return text;
}

}  // namespace

Comparison CompareText(const Tensor& a, const Tensor& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Comparison result;
  result.elements = 1;
  if (IsText(b)) {
    for (int64_t extent : ShapeOfStrings(b)) result.elements *= extent;
  }
  if (!IsText(a) || !IsText(b) || ShapeOfStrings(a) != ShapeOfStrings(b)) {
    result.mismatches = result.elements;
    result.max_abs_err = result.max_rel_err = kInfinity;
    result.problem = absl::StrCat("it is ", a.TypeString(), " and should be ",
                                  b.TypeString(), ", of strings");
    return result;
  }
  for (int64_t i = 0; i < result.elements; ++i) {
    const absl::string_view got = StringAt(a, i), want = StringAt(b, i);
    if (got == want) continue;
    result.max_abs_err = result.max_rel_err = kInfinity;
    if (result.mismatches++ > 0) continue;
    result.problem = absl::StrCat(
        IndexText(ShapeOfStrings(b), i), " is \"", absl::Utf8SafeCEscape(got),
        "\" and should be \"", absl::Utf8SafeCEscape(want), "\"");
  }
  return result;
}

}  // namespace ingot
