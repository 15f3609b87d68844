#include "compiler/tir/arith/interval.h"

#include <algorithm>

namespace ingot::tir {
namespace {

bool IsInfinite(int64_t v) {
  return v == Interval::kNone || v == Interval::kNoneMax;
}

int64_t Saturated(bool negative) {
  return negative ? Interval::kNone : Interval::kNoneMax;
}

// `if_both` settles infinity minus infinity.
int64_t AddSaturating(int64_t a, int64_t b, int64_t if_both) {
  if (IsInfinite(a) && IsInfinite(b) && a != b) return if_both;
  if (IsInfinite(a)) return a;
  if (IsInfinite(b)) return b;
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? Saturated(a < 0) : sum;
}

int64_t MultiplySaturating(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  const bool negative = (a < 0) != (b < 0);
  if (IsInfinite(a) || IsInfinite(b)) return Saturated(negative);
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? Saturated(negative) : product;
}

}  // namespace

Interval operator+(Interval a, Interval b) {
  return {AddSaturating(a.min, b.min, Interval::kNone),
          AddSaturating(a.max, b.max, Interval::kNoneMax)};
}

Interval operator*(Interval a, Interval b) {
  const int64_t corners[] = {
      MultiplySaturating(a.min, b.min), MultiplySaturating(a.min, b.max),
      MultiplySaturating(a.max, b.min), MultiplySaturating(a.max, b.max)};
  return {*std::min_element(corners, corners + 4),
          *std::max_element(corners, corners + 4)};
}

Interval Union(Interval a, Interval b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

Interval Intersect(Interval a, Interval b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

int64_t FloorDivInt(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

int64_t FloorModInt(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}

Interval FloorDiv(Interval a, Interval b) {
  // An empty range comes of facts that contradict each other.
  if (b.min < 1 || b.max < b.min) return {};
  auto divide = [](int64_t x, int64_t y) {
    if (x == Interval::kNone || x == Interval::kNoneMax) return x;
    return FloorDivInt(x, y);
  };
  // Towards 0 for the large divisor, away from it for the small one.
  const int64_t large = b.max;
  return {divide(a.min, a.min < 0 ? b.min : large),
          divide(a.max, a.max < 0 ? large : b.min)};
}

}  // namespace ingot::tir
