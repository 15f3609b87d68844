// Sums that leave out the terms that are known to be 0: exact text for the
// loops that are made, the interpreter for all sizes around a window's.
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/te/lower.h"
#include "compiler/te/schedule.h"
#include "compiler/te/testing/check.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr DataType kF32 = DataType::Float(32);

struct Window {
  int64_t size, taps, stride, dilation, pad_begin, pad_end;

  int64_t Places() const {
    return (size + pad_begin + pad_end - (taps - 1) * dilation - 1) / stride +
           1;
  }
};

// y[i] = the sum of x[i * stride + r * dilation - pad_begin] * w[r], where x
// is `value` outside of its n elements.
Kernel Sum(const Window& s, const Expr& n, const Expr& places, double value) {
  Kernel k;
  const Tensor x = k.graph.Placeholder("x", kF32, {n});
  const Tensor w = k.graph.Placeholder("w", kF32, {I(s.taps)});
  k.inputs = {x, w};
  k.outputs = {k.graph.Reduce(
      "y", {places}, {I(s.taps)}, Reducer::Sum(kF32), [&](auto& i, auto& r) {
        const Expr at = i[0] * s.stride + r[0] * s.dilation - s.pad_begin;
        return tir::MakeSelect(tir::And(tir::Ge(at, I(0)), tir::Lt(at, n)),
                               x({at}), F(value)) *
               w({r[0]});
      })};
  return k;
}

Schedule Make(const Kernel& k) {
  auto s = Schedule::Create(k.graph, k.outputs);
  EXPECT_TRUE(s.ok()) << s.status();
  return *std::move(s);
}

std::string Text(const Kernel& k, const Schedule& s) {
  auto f = Lower("f", k.graph, k.inputs, k.outputs, s);
  return f.ok() ? "\n" + tir::Print(tir::Simplify(*f)) : f.status().ToString();
}

TEST(ZerosTest, ATapOnPaddingIsLeftOutByACondition) {
  const Kernel k = Sum({8, 3, 1, 1, 1, 1}, I(8), I(8), 0);
  Schedule s = Make(k);
  s.stages()[0]->SkipZeros();
  EXPECT_EQ(Text(k, s), R"(
func @f(%x: f32[8], %w: f32[3]) -> (%y: f32[8]) {
  for i0 in [0, 8) {
    %y[i0] = 0.0f
    for r0 in [0, 3) {
      if i0 + r0 >= 1 && i0 + r0 < 9 {
        %y[i0] = muladd(%x[i0 + r0 - 1], %w[r0], %y[i0])
      }
    }
  }
}
)");
  ExpectSame(k, s);
}

// In each part of the axis the same taps lie on padding.
TEST(ZerosTest, PartsWithTheSameTapsHaveShorterLoops) {
  const Kernel k = Sum({8, 3, 1, 4, 4, 4}, I(8), I(8), 0);
  Schedule s = Make(k);
  Stage* const sum = s.stages()[0];
  sum->Specialize(sum->axis(0), {4});
  sum->SkipZeros();
  EXPECT_EQ(Text(k, s), R"(
func @f(%x: f32[8], %w: f32[3]) -> (%y: f32[8]) {
  for i0 in [0, 4) {
    %y[i0] = 0.0f
    for r0 in [1, +2) {
      %y[i0] = muladd(%x[i0 + r0 * 4 - 4], %w[r0], %y[i0])
    }
  }
  for i0 in [0, 4) {
    %y[i0 + 4] = 0.0f
    for r0 in [0, 2) {
      %y[i0 + 4] = muladd(%x[i0 + r0 * 4], %w[r0], %y[i0 + 4])
    }
  }
}
)");
  ExpectSame(k, s);
}

// The loops around a tile do not tell which of its elements read padding.
TEST(ZerosTest, TilesKeepTheirConditions) {
  const Kernel k = Sum({8, 3, 1, 1, 1, 1}, I(8), I(8), 0);
  Schedule s = Make(k);
  Stage* const sum = s.stages()[0];
  auto [o, i] = sum->Split(sum->axis(0), 4);
  sum->Reorder({o, sum->reduce_axis(0), i});
  sum->SkipZeros();
  EXPECT_THAT(Text(k, s), HasSubstr("select"));
  ExpectSame(k, s);
}

// They ask for all of them; where they do not agree, each asks by itself.
TEST(ZerosTest, NeighboursSkipZerosTogether) {
  const Kernel k = Sum({8, 3, 1, 5, 5, 5}, I(8), I(8), 0);
  Schedule s = Make(k);
  Stage* const sum = s.stages()[0];
  auto [o, i] = sum->Split(sum->axis(0), 4);
  sum->Reorder({o, sum->reduce_axis(0), i});
  sum->SkipZeros(i);
  EXPECT_EQ(Text(k, s), R"(
func @f(%x: f32[8], %w: f32[3]) -> (%y: f32[8]) {
  for i0o in [0, 2) {
    for i0i in [0, 4) {
      %y[i0o * 4 + i0i] = 0.0f
    }
    for r0 in [0, 3) {
      if i0o * 4 + r0 * 5 >= 2 && i0o * 4 + r0 * 5 < 13 {
        if i0o * 4 + r0 * 5 >= 5 && i0o * 4 + r0 * 5 < 10 {
          for i0i in [0, 4) {
            %y[i0o * 4 + i0i] = muladd(%x[i0o * 4 + r0 * 5 + i0i - 5], %w[r0], %y[i0o * 4 + i0i])
          }
        } else {
          for i0i in [0, 4) {
            if i0o * 4 + r0 * 5 + i0i >= 5 && i0o * 4 + r0 * 5 + i0i < 13 {
              %y[i0o * 4 + i0i] = muladd(%x[i0o * 4 + r0 * 5 + i0i - 5], %w[r0], %y[i0o * 4 + i0i])
            }
          }
        }
      }
    }
  }
}
)");
  ExpectSame(k, s);
}

TEST(ZerosTest, OtherPaddingIsAdded) {
  const Kernel k = Sum({8, 3, 1, 1, 1, 1}, I(8), I(8), 2);
  Schedule s = Make(k);
  s.stages()[0]->SkipZeros();
  EXPECT_THAT(Text(k, s), Not(HasSubstr("if ")));
  ExpectSame(k, s);
}

TEST(ZerosTest, WindowsOfAllSizes) {
  for (const int64_t size : {1, 2, 3, 7, 12}) {
    for (const int64_t taps : {1, 2, 3, 5}) {
      for (const int64_t stride : {1, 2, 3}) {
        for (const int64_t dilation : {1, 2, 5, 14}) {
          for (const int64_t tile : {0, 1, 2, 3, -2, -3}) {
            const Window w = {size,     taps,     stride,
                              dilation, dilation, (taps - 1) * dilation + 1};
            SCOPED_TRACE(absl::StrCat("size ", size, ", taps ", taps,
                                      ", stride ", stride, ", dilation ",
                                      dilation, ", tile ", tile));
            const Kernel k = Sum(w, I(size), I(w.Places()), 0);
            Schedule s = Make(k);
            Stage* const sum = s.stages()[0];
            if (tile == 0) {
              sum->SkipZeros();
            } else {
              auto [o, i] = sum->Split(sum->axis(0), std::abs(tile));
              sum->Reorder({o, sum->reduce_axis(0), i});
              tile < 0 ? sum->SkipZeros(i) : sum->SkipZeros();
            }
            if (w.Places() > 2) sum->Specialize(sum->axis(0), {2});
            ExpectSame(k, s);
          }
        }
      }
    }
  }
}

TEST(ZerosTest, DimensionsThatARunTells) {
  const Expr n = tir::MakeVar("n");
  const Kernel k = Sum({0, 3, 1, 2, 2, 2}, n, n, 0);
  Schedule s = Make(k);
  s.stages()[0]->SkipZeros();
  EXPECT_THAT(Text(k, s), HasSubstr("if "));
  for (const int64_t size : {0, 1, 2, 3, 9}) {
    ExpectSame(k, s, {{tir::As<tir::Var>(n), size}});
  }
}

TEST(ZerosTest, NeighboursOfDimensionsThatARunTells) {
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t dilation : {1, 2, 5, 14}) {
      const Expr n = tir::MakeVar("n");
      const Window w = {0, 3, stride, dilation, dilation, 2 * dilation + 1};
      const Expr places = (n + dilation) / I(stride) + 1;
      const Kernel k = Sum(w, n, places, 0);
      Schedule s = Make(k);
      Stage* const sum = s.stages()[0];
      auto [o, i] = sum->Split(sum->axis(0), 4);
      sum->Reorder({o, sum->reduce_axis(0), i});
      sum->Unroll(i);
      sum->SkipZeros(i);
      for (const int64_t size : {0, 1, 2, 3, 9, 31}) {
        SCOPED_TRACE(absl::StrCat("size ", size, ", stride ", stride,
                                  ", dilation ", dilation));
        ExpectSame(k, s, {{tir::As<tir::Var>(n), size}});
      }
    }
  }
}

TEST(ZerosTest, OnlySumsSkipZeros) {
  Kernel k;
  const Tensor x = k.graph.Placeholder("x", kF32, {I(8)});
  k.inputs = {x};
  k.outputs = {k.graph.Reduce("y", {I(1)}, {I(8)}, Reducer::Max(kF32),
                              [&](auto&, auto& r) { return x({r[0]}); })};
  Schedule s = Make(k);
  s.stages()[0]->SkipZeros();
  EXPECT_THAT(Text(k, s), HasSubstr("only sums skip zeros"));
}

}  // namespace
}  // namespace ingot::te
