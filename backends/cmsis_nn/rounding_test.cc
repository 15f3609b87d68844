// Measures how far CMSIS-NN's bytes are from those of ONNX's specification, for
// each way that the library rounds: the figures that README.md states.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

#include "backends/cmsis_nn/fixed_point.h"
#include "gtest/gtest.h"

extern "C" {
#include "backends/cmsis_nn/cmsis_nn_api.h"
}

namespace ingot::cmsis_nn {
namespace {

constexpr cmsis_nn_activation kBytes = {-128, 127};

// Counts how often, and by how much, bytes differ.
struct Differences {
  int64_t count = 0, different = 0;
  int most = 0;

  void Add(int got, int expected) {
    ++count;
    different += got != expected;
    most = std::max(most, std::abs(got - expected));
  }
  double share() const { return static_cast<double>(different) / count; }
};

std::ostream& operator<<(std::ostream& out, const Differences& d) {
  return out << d.different << " of " << d.count << " bytes differ, by at most "
             << d.most;
}

int QuantizedByOnnx(double real, double scale, int zero) {
  const double byte =
      std::nearbyint(static_cast<float>(real) / static_cast<float>(scale)) +
      zero;
  return static_cast<int>(std::clamp(byte, -128.0, 127.0));
}

// Sums as a convolution gives them: as biases of a point with weights of 0.
TEST(Rounding, OfSums) {
  std::mt19937 random(5);
  Differences differences, halves;
  for (int i = 0; i < 2000; ++i) {
    const bool is_half =
        i % 2 == 0;  // many sums are in the middle of two bytes
    const double factor =
        is_half ? std::ldexp(1.0, -1 - static_cast<int>(random() % 16))
                : std::exp(-1 - 12 * (random() / 4294967296.0));
    const FixedPoint fixed = ToFixedPoint(static_cast<float>(factor));
    std::vector<int32_t> sums(128), multipliers(128, fixed.multiplier),
        shifts(128, fixed.shift);
    for (int32_t& sum : sums) {
      const double byte = random() % 256 - 128.0;
      sum = static_cast<int32_t>(is_half ? (byte + 0.5) / factor
                                         : byte / factor + random() % 100);
    }
    const int8_t x = 0;
    const std::vector<int8_t> weights(128, 0);
    std::vector<int8_t> y(128);
    const cmsis_nn_context context = {nullptr, 0};
    const cmsis_nn_conv_params params = {0, 3, {1, 1}, {0, 0}, {1, 1}, kBytes};
    const cmsis_nn_per_channel_quant_params scales = {multipliers.data(),
                                                      shifts.data()};
    const cmsis_nn_dims point = {1, 1, 1, 1}, all = {1, 1, 1, 128},
                        filter = {128, 1, 1, 1};
    ASSERT_EQ(arm_convolve_wrapper_s8(&context, &params, &scales, &point, &x,
                                      &filter, weights.data(), &all,
                                      sums.data(), &all, y.data()),
              ARM_CMSIS_NN_SUCCESS);
    for (int k = 0; k < 128; ++k) {
      (is_half ? halves : differences)
          .Add(y[k],
               QuantizedByOnnx(sums[k] * static_cast<float>(factor), 1, 3));
    }
  }
  std::cout << "sums: " << differences << "\nsums in the middle: " << halves
            << "\n";
  EXPECT_LE(differences.most, 1);
  EXPECT_LT(differences.share(), 0.03);
  // Halves go to even numbers in ONNX, and up or away from zero here.
  EXPECT_EQ(halves.most, 1);
  EXPECT_NEAR(halves.share(), 0.5, 0.05);
}

TEST(Rounding, OfAverages) {
  std::mt19937 random(6);
  Differences differences;
  for (int taps = 2; taps <= 49; ++taps) {
    std::vector<int8_t> x(taps * 64), y(64);
    for (int8_t& element : x) element = static_cast<int8_t>(random());
    const cmsis_nn_context context = {nullptr, 0};
    const cmsis_nn_pool_params params = {{1, 1}, {0, 0}, kBytes};
    const cmsis_nn_dims input = {1, 1, taps, 64}, filter = {1, 1, taps, 1},
                        output = {1, 1, 1, 64};
    ASSERT_EQ(arm_avgpool_s8(&context, &params, &input, x.data(), &filter,
                             &output, y.data()),
              ARM_CMSIS_NN_SUCCESS);
    for (int c = 0; c < 64; ++c) {
      double sum = 0;
      for (int t = 0; t < taps; ++t) sum += x[t * 64 + c];
      differences.Add(y[c], QuantizedByOnnx(sum / taps, 1, 0));
    }
  }
  std::cout << "averages: " << differences << "\n";
  EXPECT_EQ(differences.most, 1);
  EXPECT_LT(differences.share(), 0.05);
}

TEST(Rounding, OfAdditions) {
  std::mt19937 random(7);
  Differences differences;
  for (int i = 0; i < 500; ++i) {
    const auto scale = [&random] {
      return std::exp(-4 + 2 * (random() / 4294967296.0));
    };
    const double a_scale = scale(), b_scale = scale(), y_scale = 2 * scale();
    const double twice = 2 * std::max(a_scale, b_scale);
    const FixedPoint fa = ToFixedPoint(a_scale / twice),
                     fb = ToFixedPoint(b_scale / twice),
                     fy = ToFixedPoint(twice / ((1 << 20) * y_scale));
    std::vector<int8_t> a(256), b(256), y(256);
    for (int8_t& element : a) element = static_cast<int8_t>(random());
    for (int8_t& element : b) element = static_cast<int8_t>(random());
    ASSERT_EQ(
        arm_elementwise_add_s8(a.data(), b.data(), -5, fa.multiplier, fa.shift,
                               7, fb.multiplier, fb.shift, 20, y.data(), 2,
                               fy.multiplier, fy.shift, -128, 127, 256),
        ARM_CMSIS_NN_SUCCESS);
    for (int k = 0; k < 256; ++k) {
      differences.Add(
          y[k], QuantizedByOnnx((a[k] - 5) * a_scale + (b[k] + 7) * b_scale,
                                y_scale, 2));
    }
  }
  std::cout << "additions: " << differences << "\n";
  EXPECT_LE(differences.most, 1);
  EXPECT_LT(differences.share(), 0.001);
}

TEST(Rounding, OfSoftmax) {
  std::mt19937 random(8);
  Differences differences;
  for (int i = 0; i < 2000; ++i) {
    const double scale = std::exp(-5 + 4 * (random() / 4294967296.0));
    const int columns = 2 + static_cast<int>(random() % 30);
    std::vector<int8_t> x(columns), y(columns);
    for (int8_t& element : x) element = static_cast<int8_t>(random());
    const SoftmaxScale s = ToSoftmaxScale(scale);
    arm_softmax_s8(x.data(), 1, columns, s.factor.multiplier, s.factor.shift,
                   s.smallest_difference, y.data());
    double sum = 0;
    for (const int8_t element : x) sum += std::exp(element * scale);
    for (int c = 0; c < columns; ++c) {
      differences.Add(
          y[c], QuantizedByOnnx(std::exp(x[c] * scale) / sum, 1.0 / 256, -128));
    }
  }
  std::cout << "softmax: " << differences << "\n";
  EXPECT_LE(differences.most, 1);
  EXPECT_LT(differences.share(), 0.03);
}

}  // namespace
}  // namespace ingot::cmsis_nn
