#include "tools/ingot/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/float16.h"

namespace ingot {
namespace {

// The 16-bit floats, which C++17 has no types for.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

template <typename T>
double ToDouble(T value) {
  return static_cast<double>(value);
}
double ToDouble(Half value) { return HalfToFloat(value.bits); }
double ToDouble(BFloat16 value) { return BFloat16ToFloat(value.bits); }

// |a-b|. Of 64-bit integers the difference fits a double where they do not.
template <typename T>
double Distance(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<
        std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;
    return static_cast<double>(
        static_cast<U>(a > b ? static_cast<U>(a) - static_cast<U>(b)
                             : static_cast<U>(b) - static_cast<U>(a)));
  } else {
    return std::fabs(ToDouble(a) - ToDouble(b));
  }
}

// Calls `visit` with a null pointer of the type of the elements. False for a
// type without numbers.
template <typename Visit>
bool VisitType(DataType type, Visit visit) {
  if (type.lanes != 1) return false;
  if (type.is_bool()) return visit(static_cast<uint8_t*>(nullptr)), true;
  if (type == DataType::Float(16)) {
    return visit(static_cast<Half*>(nullptr)), true;
  }
  if (type == DataType::BFloat16()) {
    return visit(static_cast<BFloat16*>(nullptr)), true;
  }
  if (type == DataType::Float(32)) {
    return visit(static_cast<float*>(nullptr)), true;
  }
  if (type == DataType::Float(64)) {
    return visit(static_cast<double*>(nullptr)), true;
  }
  if (!type.is_integer()) return false;
  const bool is_signed = type.is_int();
  switch (type.bits) {
    case 8:
      return is_signed ? visit(static_cast<int8_t*>(nullptr))
                       : visit(static_cast<uint8_t*>(nullptr)),
             true;
    case 16:
      return is_signed ? visit(static_cast<int16_t*>(nullptr))
                       : visit(static_cast<uint16_t*>(nullptr)),
             true;
    case 32:
      return is_signed ? visit(static_cast<int32_t*>(nullptr))
                       : visit(static_cast<uint32_t*>(nullptr)),
             true;
    case 64:
      return is_signed ? visit(static_cast<int64_t*>(nullptr))
                       : visit(static_cast<uint64_t*>(nullptr)),
             true;
    default:
      return false;
  }
}

// The element at `i` for a person: of a float so many digits, of an integer
// all.
std::string ElementText(const Tensor& tensor, int64_t i, int digits) {
  std::string text;
  VisitType(tensor.dtype(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const T value = static_cast<const T*>(tensor.raw_data())[i];
    if constexpr (std::is_integral_v<T>) {
      text = absl::StrCat(value);
    } else {
      const double number = ToDouble(value);
      text =
          std::isnan(number) ? "nan" : absl::StrFormat("%.*g", digits, number);
    }
  });
  return text;
}

absl::Status NoNumbers(const Tensor& tensor) {
  return absl::UnimplementedError(absl::StrCat(
      "elements of type ", tensor.dtype().ToString(), " have no numbers"));
}

// `first` gets the place of the first element that does not pass.
template <typename T>
void CompareElements(const Tensor& a, const Tensor& b,
                     const Tolerance& tolerance, Comparison* result,
                     int64_t* first) {
  const T* x = static_cast<const T*>(a.raw_data());
  const T* y = static_cast<const T*>(b.raw_data());
  const int64_t n = a.NumElements();
  for (int64_t i = 0; i < n; ++i) {
    const double magnitude = std::fabs(ToDouble(y[i]));
    if (std::isfinite(magnitude)) {
      result->largest = std::max(result->largest, magnitude);
    }
  }
  const double slack = tolerance.rtol_max.value_or(0) * result->largest;
  const double rtol = std::is_integral_v<T> ? 0 : tolerance.rtol;
  result->elements = n;
  result->is_rounded = !std::is_integral_v<T>;
  for (int64_t i = 0; i < n; ++i) {
    const double want = ToDouble(y[i]);
    const double got = ToDouble(x[i]);
    double error = 0;
    bool pass = false;
    if (std::isfinite(got) && std::isfinite(want)) {
      error = Distance(x[i], y[i]);
      pass = error <= tolerance.atol + rtol * std::fabs(want) || error <= slack;
    } else {
      pass = got == want || (std::isnan(got) && std::isnan(want));
      error = pass ? 0 : std::numeric_limits<double>::infinity();
    }
    result->max_abs_err = std::max(result->max_abs_err, error);
    if (want != 0 && error > 0) {
      result->max_rel_err =
          std::max(result->max_rel_err,
                   std::isinf(error) ? error : error / std::fabs(want));
    }
    if (!pass && result->mismatches++ == 0) *first = i;
  }
}

template <typename T>
void SummarizeElements(const Tensor& tensor, Summary* summary) {
  const T* x = static_cast<const T*>(tensor.raw_data());
  const int64_t n = tensor.NumElements();
  double min = std::numeric_limits<double>::infinity();
  double max = -min;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double value = ToDouble(x[i]);
    if (std::isnan(value)) {
      ++summary->nans;
      continue;
    }
    min = std::min(min, value);
    max = std::max(max, value);
    sum += value;
  }
  const int64_t numbers = n - summary->nans;
  if (numbers > 0) {
    summary->min = min;
    summary->max = max;
    summary->mean = sum / static_cast<double>(numbers);
  }
}

}  // namespace

std::string IndexText(absl::Span<const int64_t> shape, int64_t flat) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return absl::StrCat("[", absl::StrJoin(index, ", "), "]");
}

absl::StatusOr<Comparison> Compare(const Tensor& a, const Tensor& b,
                                   const Tolerance& tolerance) {
  Comparison result;
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) {
    result.elements = b.NumElements();
    result.mismatches = b.NumElements();
    result.max_abs_err = std::numeric_limits<double>::infinity();
    result.max_rel_err = std::numeric_limits<double>::infinity();
    result.problem = absl::StrCat("it is ", a.TypeString(), " and should be ",
                                  b.TypeString());
    return result;
  }
  int64_t first = 0;
  const bool known = VisitType(a.dtype(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    CompareElements<T>(a, b, tolerance, &result, &first);
  });
  if (!known) return NoNumbers(a);
  if (result.mismatches > 0) {
    result.problem = absl::StrCat(IndexText(a.shape(), first), " is ",
                                  ElementText(a, first, 9), " and should be ",
                                  ElementText(b, first, 9));
  }
  return result;
}

absl::StatusOr<Summary> Summarize(const Tensor& tensor) {
  Summary summary;
  const bool known = VisitType(tensor.dtype(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    SummarizeElements<T>(tensor, &summary);
  });
  if (!known) return NoNumbers(tensor);
  constexpr int64_t kFirst = 5;
  const int64_t n = tensor.NumElements();
  std::vector<std::string> first;
  for (int64_t i = 0; i < std::min(n, kFirst); ++i) {
    first.push_back(ElementText(tensor, i, 6));
  }
  summary.first = absl::StrJoin(first, " ");
  if (n > kFirst) absl::StrAppend(&summary.first, " ...");
  return summary;
}

}  // namespace ingot
