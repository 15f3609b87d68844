// Images sampled where data tell, several planes at once, against sums in
// double over the elements around each place.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "compiler/machine/test_machine.h"
#include "compiler/relay/ir.h"
#include "compiler/schedules/cpu/operator_kernel.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"

namespace ingot::te::cpu {
namespace {

using Ints = std::vector<int64_t>;

constexpr DataType kF32 = DataType::Float(32);

// Numbers between -most and most.
ingot::Tensor Random(const Ints& shape, uint32_t seed, double most) {
  ingot::Tensor t = *ingot::Tensor::Empty(kF32, shape);
  uint32_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    state = state * 1664525u + 1013904223u;
    t.mutable_data<float>()[i] =
        static_cast<float>(((state >> 8) / 8388608.0 - 1) * most);
  }
  return t;
}

// The elements around a place of a plane, by their weights; those outside of it
// are 0.
std::vector<double> Around(const float* plane, int64_t height, int64_t width,
                           double y, double x) {
  const double top = std::floor(y), left = std::floor(x);
  std::vector<double> terms;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const double row = top + i, column = left + j;
      const bool inside =
          row >= 0 && row < height && column >= 0 && column < width;
      const double weight =
          (1 - std::abs(y - row)) * (1 - std::abs(x - column));
      terms.push_back(inside ? plane[static_cast<int64_t>(row) * width +
                                     static_cast<int64_t>(column)] *
                                   weight
                             : 0);
    }
  }
  return terms;
}

double SumOf(const std::vector<double>& terms) {
  double sum = 0;
  for (double term : terms) sum += term;
  return sum;
}

void ExpectNear(const ingot::Tensor& result,
                const std::vector<double>& expected) {
  ASSERT_EQ(result.NumElements(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double value = result.data<float>()[i];
    if (std::isnan(expected[i])) {
      ASSERT_TRUE(std::isnan(value)) << i;
    } else {
      ASSERT_NEAR(value, expected[i], 2e-3) << i;
    }
  }
}

struct Grid {
  int64_t images, channels, height, width, rows, columns;
  std::string padding = "zeros";
  bool align = false, symbolic = false;
};

std::vector<double> Expected(const Grid& p, const ingot::Tensor& x,
                             const ingot::Tensor& grid) {
  const auto place = [&](double g, int64_t extent) {
    const auto n = static_cast<double>(extent);
    const double at = p.align ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
    return p.padding == "border" ? std::clamp(at, 0.0, n - 1) : at;
  };
  std::vector<double> y;
  for (int64_t image = 0; image < p.images; ++image) {
    for (int64_t c = 0; c < p.channels; ++c) {
      const float* plane =
          x.data<float>() + (image * p.channels + c) * p.height * p.width;
      for (int64_t point = 0; point < p.rows * p.columns; ++point) {
        const float* at =
            grid.data<float>() + (image * p.rows * p.columns + point) * 2;
        y.push_back(
            SumOf(Around(plane, p.height, p.width, place(at[1], p.height),
                         place(at[0], p.width))));
      }
    }
  }
  return y;
}

// `used`: whether vectors hold planes.
void Check(const Grid& p, int vector_bits, bool used,
           const std::function<void(float* x, float* grid)>& change = nullptr) {
  SCOPED_TRACE(p.padding + " with vectors of " + std::to_string(vector_bits));
  Dimensions dims(p.symbolic);
  const Ints x_shape = {p.images, p.channels, p.height, p.width};
  const Ints points = {p.images, p.rows, p.columns};
  std::vector<Expr> grid_shape = dims.Of(points);
  grid_shape.push_back(I(2));
  relay::Attrs attrs;
  attrs.Set("padding_mode", p.padding);
  attrs.Set("align_corners", static_cast<int64_t>(p.align));
  Kernel kernel;
  DefineOperator("grid_sample", {{kF32, dims.Of(x_shape)}, {kF32, grid_shape}},
                 attrs, &kernel);
  if (testing::Test::HasFatalFailure()) return;
  ingot::Tensor x = Random(x_shape, 1, 3);
  ingot::Tensor grid = Random({p.images, p.rows, p.columns, 2}, 2, 1.5);
  if (change) change(x.mutable_data<float>(), grid.mutable_data<float>());
  bool found;
  const ingot::Tensor result =
      RunScheduled(kernel, TestCpu(vector_bits), {x, grid}, dims.values(),
                   "cpu.planes", &found);
  EXPECT_EQ(found, used && vector_bits > 0);
  ExpectNear(result, Expected(p, x, grid));
}

struct Rois {
  int64_t images, channels, height, width, count;
  int64_t rows, columns, ratio;
  std::string mode = "avg";
  bool half = true, symbolic = false;
};

std::vector<double> Expected(const Rois& p, const ingot::Tensor& x,
                             const ingot::Tensor& rois, const Ints& images) {
  constexpr double kScale = 0.5;
  std::vector<double> y;
  const auto sample = [&](const float* plane, double row, double column) {
    const auto h = static_cast<double>(p.height);
    const auto w = static_cast<double>(p.width);
    if (row < -1 || row > h || column < -1 || column > w) {
      return std::vector<double>(4, 0.0);
    }
    return Around(plane, p.height, p.width, std::clamp(row, 0.0, h - 1),
                  std::clamp(column, 0.0, w - 1));
  };
  const auto n = static_cast<double>(p.ratio);
  for (int64_t r = 0; r < p.count; ++r) {
    const float* roi = rois.data<float>() + r * 4;
    const double shift = p.half ? 0.5 : 0;
    const auto along = [&](int side, int64_t bins, int64_t bin, int64_t at) {
      const double start = roi[1 - side] * kScale - shift;
      double length = roi[3 - side] * kScale - shift - start;
      if (!p.half) length = std::max(length, 1.0);
      const double size = length / static_cast<double>(bins);
      return start +
             (static_cast<double>(bin) + (static_cast<double>(at) + 0.5) / n) *
                 size;
    };
    for (int64_t c = 0; c < p.channels; ++c) {
      const float* plane =
          x.data<float>() + (images[r] * p.channels + c) * p.height * p.width;
      for (int64_t bin = 0; bin < p.rows * p.columns; ++bin) {
        double sum = 0, most = -std::numeric_limits<double>::infinity();
        for (int64_t k = 0; k < p.ratio * p.ratio; ++k) {
          const auto terms =
              sample(plane, along(0, p.rows, bin / p.columns, k / p.ratio),
                     along(1, p.columns, bin % p.columns, k % p.ratio));
          sum += SumOf(terms);
          for (double term : terms) most = std::max(most, term);
        }
        y.push_back(p.mode == "max" ? most : sum / (n * n));
      }
    }
  }
  return y;
}

void Check(const Rois& p, int vector_bits, bool used) {
  SCOPED_TRACE(p.mode + " with vectors of " + std::to_string(vector_bits));
  Dimensions dims(p.symbolic);
  const Ints x_shape = {p.images, p.channels, p.height, p.width};
  relay::Attrs attrs;
  attrs.Set("output_height", p.rows);
  attrs.Set("output_width", p.columns);
  attrs.Set("sampling_ratio", p.ratio);
  attrs.Set("mode", p.mode);
  attrs.Set("spatial_scale", 0.5);
  attrs.Set("half_pixel", static_cast<int64_t>(p.half));
  Kernel kernel;
  const Expr count = dims.Of(p.count);
  DefineOperator("roi_align",
                 {{kF32, dims.Of(x_shape)},
                  {kF32, {count, I(4)}},
                  {DataType::Int(64), {count}}},
                 attrs, &kernel);
  if (testing::Test::HasFatalFailure()) return;
  ingot::Tensor rois = Random({p.count, 4}, 2, 1);
  ingot::Tensor batch = *ingot::Tensor::Empty(DataType::Int(64), {p.count});
  Ints images;
  for (int64_t r = 0; r < p.count; ++r) {
    float* roi = rois.mutable_data<float>() + r * 4;
    // Corners from outside on one side to outside on the other.
    for (int k = 0; k < 4; ++k) {
      const auto extent = static_cast<float>(k % 2 == 0 ? p.width : p.height);
      roi[k] = (roi[k] + (k < 2 ? 0.3f : 1.7f)) * extent;
    }
    images.push_back((r * 7 + 1) % p.images);
    batch.mutable_data<int64_t>()[r] = images.back();
  }
  const ingot::Tensor x = Random(x_shape, 1, 3);
  bool found;
  const ingot::Tensor result =
      RunScheduled(kernel, TestCpu(vector_bits), {x, rois, batch},
                   dims.values(), "cpu.planes", &found);
  EXPECT_EQ(found, used && vector_bits > 0);
  ExpectNear(result, Expected(p, x, rois, images));
}

class PlanesTest : public testing::TestWithParam<int> {};

TEST_P(PlanesTest, Grids) {
  for (const char* padding : {"zeros", "border"}) {
    for (bool align : {false, true}) {
      Check(Grid{2, 19, 5, 7, 3, 6, padding, align}, GetParam(), true);
    }
  }
  Check(Grid{1, 64, 5, 7, 3, 6}, GetParam(), true);
  Check(Grid{1, 17, 32, 32, 3, 6}, GetParam(), true);  // 4 KiB apart
  Check(Grid{3, 2, 1, 1, 1, 1}, GetParam(), true);
  Check(Grid{2, 1, 5, 7, 3, 6}, GetParam(), false);  // one plane
}

TEST_P(PlanesTest, GridsOfSymbols) {
  Check(Grid{2, 19, 5, 7, 3, 6, "zeros", false, true}, GetParam(), true);
  Check(Grid{2, 8, 4, 4, 0, 6, "zeros", false, true}, GetParam(), true);
}

// Places outside of the image give 0, whatever is at its edge; a place that is
// no number gives none.
TEST_P(PlanesTest, GridsWithInfinitiesAndNaNs) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Check(Grid{1, 9, 3, 3, 2, 2}, GetParam(), true, [](float* x, float* grid) {
    for (int i = 0; i < 9 * 9; ++i) {
      if (i % 9 != 4) x[i] = i % 2 == 0 ? kInfinity : std::nanf("");
    }
    const float places[] = {0, 0, 9, 9, -1e30f, 0, kInfinity, -kInfinity};
    std::copy(std::begin(places), std::end(places), grid);
    // Infinite places have no finite distance to the elements around them.
    grid[6] = 5;
    grid[7] = 1e20f;
  });
}

TEST_P(PlanesTest, RegionsOfInterest) {
  for (const char* mode : {"avg", "max"}) {
    for (bool half : {false, true}) {
      Check(Rois{2, 19, 9, 11, 5, 3, 4, 2, mode, half}, GetParam(), true);
    }
  }
  for (int64_t ratio : {1, 3}) {
    Check(Rois{1, 16, 6, 5, 4, 2, 2, ratio}, GetParam(), true);
  }
  Check(Rois{1, 1, 6, 5, 4, 2, 2, 2}, GetParam(), false);  // one plane
  Check(Rois{1, 5, 6, 5, 3, 1, 1, 2}, GetParam(), true);
}

TEST_P(PlanesTest, RegionsOfSymbols) {
  Check(Rois{2, 19, 9, 11, 5, 3, 4, 2, "avg", true, true}, GetParam(), true);
  Check(Rois{2, 8, 9, 11, 0, 3, 4, 2, "avg", true, true}, GetParam(), true);
}

INSTANTIATE_TEST_SUITE_P(VectorBits, PlanesTest,
                         testing::Values(0, 128, 256, 512));

}  // namespace
}  // namespace ingot::te::cpu
