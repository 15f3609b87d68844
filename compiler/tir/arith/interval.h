#ifndef INGOT_COMPILER_TIR_ARITH_INTERVAL_H_
#define INGOT_COMPILER_TIR_ARITH_INTERVAL_H_

#include <cstdint>

namespace ingot::tir {

// The inclusive range of an i64 value. The extremes of int64_t stand for "no
// bound", and arithmetic saturates there.
struct Interval {
  static constexpr int64_t kNone = INT64_MIN;     // as min
  static constexpr int64_t kNoneMax = INT64_MAX;  // as max

  int64_t min = kNone;
  int64_t max = kNoneMax;

  static Interval Point(int64_t v) { return {v, v}; }
  bool IsBounded() const { return min != kNone && max != kNoneMax; }
  bool IsPoint() const { return min == max; }
};

Interval operator+(Interval a, Interval b);
Interval operator*(Interval a, Interval b);
Interval Union(Interval a, Interval b);
Interval Intersect(Interval a, Interval b);

// The range of floor(x / y) for x in `a` and y in `b`; unbounded unless b is
// positive and not empty.
Interval FloorDiv(Interval a, Interval b);

// Rounds towards minus infinity; b must not be 0 and not overflow.
int64_t FloorDivInt(int64_t a, int64_t b);
// Of numbers that are not negative, b > 0, their sum in range.
inline int64_t CeilDivInt(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t FloorModInt(int64_t a, int64_t b);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_ARITH_INTERVAL_H_
