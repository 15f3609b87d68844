// Long sums on a device of OpenCL against double precision. Without a driver
// they are skipped.
#include <cmath>
#include <string>
#include <vector>

#include "backends/device/testing/device_sets.h"
#include "backends/opencl/device.h"
#include "backends/testing/run_model.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

// The sums have 19937 terms, a prime: some are left over, whatever a block is.
constexpr int64_t kTerms = 19937;
// A part of the sum; a chain of additions loses some 1e-5 here.
constexpr double kTolerance = 1e-6;

class Sums : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto device = opencl::ClDevice::Open();
    if (!device.ok()) GTEST_SKIP() << device.status().message();
  }

  // Positive, so that nothing cancels.
  static Tensor Numbers(const std::vector<int64_t>& shape, uint32_t seed) {
    Tensor x = *Tensor::Empty(DataType::Float(32), shape);
    for (int64_t i = 0; i < x.NumElements(); ++i) {
      seed = seed * 1664525u + 1013904223u;
      x.mutable_data<float>()[i] = static_cast<float>(seed >> 8) / (1 << 24);
    }
    return x;
  }

  static std::vector<Tensor> Run(const char* model,
                                 const std::vector<Tensor>& inputs) {
    const auto set = testing_support::CompileText(model, "opencl");
    EXPECT_TRUE(set.ok()) << set.status();
    const auto loaded = testing_support::StoreAndLoad(*set);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    auto results = testing_support::RunModel(*loaded, inputs);
    EXPECT_TRUE(results.ok()) << results.status();
    return *std::move(results);
  }
};

TEST_F(Sums, OfProducts) {
  const Tensor x = Numbers({3, kTerms}, 1), w = Numbers({kTerms, 5}, 2);
  const std::vector<Tensor> results = Run(R"(
module {
  func @main(%x: f32[3, 19937], %w: f32[19937, 5]) -> (%p, %r) {
    %p = matmul(%x, %w)
    %q = matmul(%x, %w)
    %r = relu(%q)
  }
}
)",
                                          {x, w});
  for (int64_t row = 0; row < 3; ++row) {
    for (int64_t column = 0; column < 5; ++column) {
      double sum = 0;
      for (int64_t k = 0; k < kTerms; ++k) {
        sum += static_cast<double>(x.data<float>()[row * kTerms + k]) *
               w.data<float>()[k * 5 + column];
      }
      for (const Tensor& result : results) {
        EXPECT_NEAR(result.data<float>()[row * 5 + column], sum,
                    kTolerance * sum);
      }
    }
  }
}

// One number of all, and one of each row.
TEST_F(Sums, OfRowsAndOfAll) {
  const Tensor x = Numbers({3, kTerms}, 3);
  const std::vector<Tensor> results = Run(R"(
module {
  func @main(%x: f32[3, 19937]) -> (%rows, %all) {
    %rows = reduce_mean(%x) {axes=[1]}
    %all = reduce_sum(%x) {keepdims=0}
  }
}
)",
                                          {x});
  double all = 0;
  for (int64_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < kTerms; ++i) {
      sum += x.data<float>()[row * kTerms + i];
    }
    all += sum;
    EXPECT_NEAR(results[0].data<float>()[row], sum / kTerms,
                kTolerance * sum / kTerms);
  }
  EXPECT_NEAR(results[1].data<float>()[0], all, kTolerance * all);
}

// 2300 channels of 3 by 3: the blocks are of parts of the channels.
TEST_F(Sums, OfConvolutions) {
  constexpr int64_t kChannels = 2300;
  const Tensor x = Numbers({1, kChannels, 3, 3}, 4);
  const Tensor w = Numbers({2, kChannels, 3, 3}, 5);
  const std::vector<Tensor> results = Run(R"(
module {
  func @main(%x: f32[1, 2300, 3, 3], %w: f32[2, 2300, 3, 3]) -> (%y) {
    %y = conv2d(%x, %w)
  }
}
)",
                                          {x, w});
  for (int64_t out = 0; out < 2; ++out) {
    double sum = 0;
    for (int64_t i = 0; i < kChannels * 9; ++i) {
      sum += static_cast<double>(x.data<float>()[i]) *
             w.data<float>()[out * kChannels * 9 + i];
    }
    EXPECT_NEAR(results[0].data<float>()[out], sum, kTolerance * sum);
  }
}

}  // namespace
}  // namespace ingot
