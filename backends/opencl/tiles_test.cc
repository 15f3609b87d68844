// Models whose kernels are blocks of threads on a device of OpenCL, against
// plain sums in double precision: rows, and convolutions. Without a driver,
// such as Debian's pocl-opencl-icd, what needs one is skipped.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/device/testing/device_sets.h"
#include "backends/opencl/device.h"
#include "backends/testing/run_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using testing_support::CompileText;
using testing_support::ContentOf;

Tensor Numbers(const std::vector<int64_t>& shape, uint32_t seed) {
  Tensor x = *Tensor::Empty(DataType::Float(32), shape);
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    x.mutable_data<float>()[i] = static_cast<float>(seed >> 8) / (1 << 23) - 1;
  }
  return x;
}

// A model of one operator, "y = <text>" of x, and perhaps of w and b.
std::string Model(const std::string& parameters, const std::string& text) {
  return absl::StrCat("module {\n  func @main(", parameters,
                      ") -> (%y) {\n    %y = ", text, "\n  }\n}\n");
}

// Counts the kernels that the device runs for a model.
int KernelsOf(const std::string& model) {
  const auto set = CompileText(model, "opencl");
  EXPECT_TRUE(set.ok()) << set.status();
  if (!set.ok()) return 0;
  return testing_support::CountOf("\n  launch ",
                                  ContentOf(*set, "opencl", "kernels.table"));
}

TEST(Tiles, AreOneKernelForEachOperator) {
  EXPECT_EQ(KernelsOf(Model("%x: f32[40, 300]", "softmax(%x) {axis=1}")), 1);
  EXPECT_EQ(KernelsOf(Model("%x: f32[2, 30, 7]", "softmax(%x) {axis=1}")), 1);
  EXPECT_EQ(KernelsOf(Model("%x: f32[40, 300], %w: f32[300], %b: f32[300]",
                            "layer_norm(%x, %w, %b) {axis=1}")),
            1);
  EXPECT_EQ(KernelsOf(Model("%x: f32[2, 8, 9, 9], %w: f32[8], %b: f32[8]",
                            "group_norm(%x, %w, %b) {groups=2}")),
            1);
  // The padding is part of the patch.
  EXPECT_EQ(KernelsOf(Model("%x: f32[1, 8, 120, 120], %w: f32[64, 8, 3, 3]",
                            "conv2d(%x, %w) {pads=[1, 1, 1, 1]}")),
            1);
}

class TilesOnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto device = opencl::ClDevice::Open();
    if (!device.ok()) GTEST_SKIP() << device.status().message();
  }

  static Tensor Run(const std::string& model,
                    const std::vector<Tensor>& inputs) {
    const auto set = CompileText(model, "opencl");
    EXPECT_TRUE(set.ok()) << set.status();
    const auto loaded = testing_support::StoreAndLoad(*set);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    auto results = testing_support::RunModel(*loaded, inputs);
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? (*results)[0] : Tensor();
  }
};

// Rows of few and of many elements, along memory and across it.
TEST_F(TilesOnDevice, Softmax) {
  struct Case {
    int64_t outer, terms, inner;
  };
  for (const Case& c : std::vector<Case>{
           {1, 1000, 1}, {40, 300, 1}, {700, 5, 1}, {2, 30, 7}, {3, 9000, 1}}) {
    SCOPED_TRACE(testing::Message()
                 << c.outer << " x " << c.terms << " x " << c.inner);
    const Tensor x = Numbers({c.outer, c.terms, c.inner}, 1);
    const Tensor y = Run(Model(absl::StrCat("%x: f32[", c.outer, ", ", c.terms,
                                            ", ", c.inner, "]"),
                               "softmax(%x) {axis=1}"),
                         {x});
    for (int64_t row = 0; row < c.outer * c.inner; ++row) {
      const int64_t first = row / c.inner * c.terms * c.inner + row % c.inner;
      const auto exp_of = [&](int64_t term) {
        return std::exp(
            static_cast<double>(x.data<float>()[first + term * c.inner]));
      };
      double sum = 0;
      for (int64_t term = 0; term < c.terms; ++term) sum += exp_of(term);
      for (int64_t term = 0; term < c.terms; ++term) {
        const double expected = exp_of(term) / sum;
        ASSERT_NEAR(y.data<float>()[first + term * c.inner], expected,
                    2e-6 * expected);
      }
    }
  }
}

// Groups of channels, and what is left over of a block's rows and threads.
TEST_F(TilesOnDevice, GroupNorm) {
  constexpr int64_t kChannels = 12, kImage = 11 * 13;
  const Tensor x = Numbers({2, kChannels, 11, 13}, 1);
  const Tensor w = Numbers({kChannels}, 2), b = Numbers({kChannels}, 3);
  for (const int64_t groups : {1, 3, 12}) {
    const Tensor y =
        Run(Model("%x: f32[2, 12, 11, 13], %w: f32[12], %b: f32[12]",
                  absl::StrCat("group_norm(%x, %w, %b) {groups=", groups, "}")),
            {x, w, b});
    const int64_t size = kChannels / groups * kImage;
    for (int64_t group = 0; group < 2 * groups; ++group) {
      const float* in = x.data<float>() + group * size;
      double mean = 0, variance = 0;
      for (int64_t i = 0; i < size; ++i) mean += in[i];
      mean /= static_cast<double>(size);
      for (int64_t i = 0; i < size; ++i) {
        variance += (in[i] - mean) * (in[i] - mean);
      }
      variance /= static_cast<double>(size);
      for (int64_t i = 0; i < size; ++i) {
        const int64_t channel = (group * size + i) / kImage % kChannels;
        ASSERT_NEAR(y.data<float>()[group * size + i],
                    (in[i] - mean) / std::sqrt(variance + 1e-5) *
                            w.data<float>()[channel] +
                        b.data<float>()[channel],
                    5e-6);
      }
    }
  }
}

// One row of a product: its columns are those that are read along memory.
TEST_F(TilesOnDevice, ProductOfOneRow) {
  const Tensor x = Numbers({1, 700}, 1), w = Numbers({700, 130}, 2);
  const Tensor y = Run(
      Model("%x: f32[1, 700], %w: f32[700, 130]", "matmul(%x, %w)"), {x, w});
  for (int64_t column = 0; column < 130; ++column) {
    double sum = 0;
    for (int64_t k = 0; k < 700; ++k) {
      sum += static_cast<double>(x.data<float>()[k]) *
             w.data<float>()[k * 130 + column];
    }
    ASSERT_NEAR(y.data<float>()[column], sum, 2e-5);
  }
}

struct ConvCase {
  int64_t channels, in, height, width, kernel, stride, pad;
};

void ExpectConvolution(const ConvCase& c, const Tensor& x, const Tensor& w,
                       const Tensor& y) {
  const int64_t rows = (c.height + 2 * c.pad - c.kernel) / c.stride + 1;
  const int64_t columns = (c.width + 2 * c.pad - c.kernel) / c.stride + 1;
  ASSERT_EQ(y.NumElements(), c.channels * rows * columns);
  for (int64_t i = 0; i < y.NumElements(); ++i) {
    const int64_t out = i / (rows * columns);
    const int64_t top = i / columns % rows * c.stride - c.pad;
    const int64_t left = i % columns * c.stride - c.pad;
    double sum = 0;
    for (int64_t tap = 0; tap < c.in * c.kernel * c.kernel; ++tap) {
      const int64_t channel = tap / (c.kernel * c.kernel);
      const int64_t row = top + tap / c.kernel % c.kernel;
      const int64_t column = left + tap % c.kernel;
      if (row < 0 || row >= c.height || column < 0 || column >= c.width) {
        continue;
      }
      sum +=
          static_cast<double>(
              x.data<float>()[(channel * c.height + row) * c.width + column]) *
          w.data<float>()[out * c.in * c.kernel * c.kernel + tap];
    }
    ASSERT_NEAR(y.data<float>()[i], std::max(sum, 0.0), 2e-5) << i;
  }
}

TEST_F(TilesOnDevice, Convolutions) {
  for (const ConvCase& c : std::vector<ConvCase>{{64, 64, 28, 28, 3, 1, 1},
                                                 {32, 3, 33, 41, 7, 2, 3},
                                                 {256, 256, 28, 28, 1, 1, 0},
                                                 {20, 9, 14, 10, 3, 2, 0}}) {
    SCOPED_TRACE(testing::Message() << c.channels << " of " << c.in);
    const Tensor x = Numbers({1, c.in, c.height, c.width}, 1);
    const Tensor w = Numbers({c.channels, c.in, c.kernel, c.kernel}, 2);
    const std::string pads = absl::StrCat(c.pad, ", ", c.pad);
    const std::string model = absl::StrCat(
        "module {\n  func @main(%x: f32[1, ", c.in, ", ", c.height, ", ",
        c.width, "], %w: f32[", c.channels, ", ", c.in, ", ", c.kernel, ", ",
        c.kernel, "]) -> (%y) {\n    %c = conv2d(%x, %w) {strides=[", c.stride,
        ", ", c.stride, "], pads=[", pads, ", ", pads,
        "]}\n    %y = relu(%c)\n  }\n}\n");
    const auto set = CompileText(model, "opencl");
    ASSERT_TRUE(set.ok()) << set.status();
    EXPECT_THAT(ContentOf(*set, "opencl", "kernels.cl"),
                HasSubstr("__local float w_tile["));
    ExpectConvolution(c, x, w, Run(model, {x, w}));
  }
}

}  // namespace
}  // namespace ingot
