// Compares what models reserve with what the library itself would ask for.
#include "backends/cmsis_nn/workspace.h"

#include "backends/cmsis_nn/fixed_point.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

extern "C" {
#include "backends/cmsis_nn/cmsis_nn_api.h"
}

namespace ingot::cmsis_nn {
namespace {

using ::testing::HasSubstr;

Layer MakeLayer(Function function, int64_t channels, int64_t kernel,
                int64_t stride = 1, int64_t pad = 0) {
  Layer layer;
  layer.function = function;
  Window& w = layer.window;
  w.in_h = w.in_w = 10;
  w.in_c = w.out_c = channels;
  w.kernel_h = w.kernel_w = kernel;
  w.stride_h = w.stride_w = stride;
  w.pad_h = w.pad_w = pad;
  w.out_h = w.out_w = (10 + 2 * pad - kernel) / stride + 1;
  return layer;
}

// The reference is compiled for a processor without extensions here.
int32_t AskedFor(const Layer& layer) {
  const Window& w = layer.window;
  const auto int32 = [](int64_t n) { return static_cast<int32_t>(n); };
  const cmsis_nn_dims input = {1, 10, 10, int32(w.in_c)};
  const cmsis_nn_dims output = {1, int32(w.out_h), int32(w.out_w),
                                int32(w.out_c)};
  const cmsis_nn_dims filter = {int32(w.out_c), int32(w.kernel_h),
                                int32(w.kernel_w), int32(w.in_c)};
  const cmsis_nn_tile stride = {int32(w.stride_w), int32(w.stride_h)};
  const cmsis_nn_tile padding = {int32(w.pad_w), int32(w.pad_h)};
  if (layer.function == Function::kConvolve) {
    const cmsis_nn_conv_params params = {0, 0, stride, padding, {1, 1}, {0, 0}};
    return arm_convolve_wrapper_s8_get_buffer_size(&params, &input, &filter,
                                                   &output);
  }
  if (layer.function == Function::kDepthwise) {
    const cmsis_nn_dw_conv_params params = {0,       0,      1,     stride,
                                            padding, {1, 1}, {0, 0}};
    return arm_depthwise_conv_wrapper_s8_get_buffer_size(&params, &input,
                                                         &filter, &output);
  }
  return arm_avgpool_s8_get_buffer_size(int32(w.out_w), int32(w.in_c));
}

TEST(Workspace, IsWhatTheLibraryAsksFor) {
  for (const Function function :
       {Function::kConvolve, Function::kDepthwise, Function::kAveragePool}) {
    for (const int64_t channels : {1, 3, 16, 40}) {
      for (const int64_t kernel : {1, 3, 5}) {
        for (const int64_t stride : {1, 2}) {
          for (const int64_t pad : {0, 1}) {
            const Layer layer =
                MakeLayer(function, channels, kernel, stride, pad);
            EXPECT_EQ(WorkspaceBytes(layer, Extension::kNone), AskedFor(layer))
                << static_cast<int>(function) << " " << channels << " "
                << kernel << " " << stride << " " << pad;
          }
        }
      }
    }
  }
}

// By the formulas that CMSIS-NN has for hosts, as numbers.
TEST(Workspace, DependsOnTheProcessor) {
  const auto bytes = [](const Layer& layer) {
    return std::vector<int64_t>{WorkspaceBytes(layer, Extension::kNone),
                                WorkspaceBytes(layer, Extension::kDsp),
                                WorkspaceBytes(layer, Extension::kMve)};
  };
  using ::testing::ElementsAre;
  // Two columns of 27 numbers, as 16 bits in fours; four, as bytes in 16s.
  EXPECT_THAT(bytes(MakeLayer(Function::kConvolve, 3, 3)),
              ElementsAre(112, 112, 128));
  EXPECT_THAT(bytes(MakeLayer(Function::kConvolve, 8, 1)),
              ElementsAre(0, 32, 0));
  EXPECT_THAT(bytes(MakeLayer(Function::kConvolve, 8, 1, 2)),
              ElementsAre(0, 0, 0));
  EXPECT_THAT(bytes(MakeLayer(Function::kDepthwise, 8, 3, 1, 1)),
              ElementsAre(0, 0, 4464));
  EXPECT_THAT(bytes(MakeLayer(Function::kDepthwise, 8, 5)),
              ElementsAre(0, 400, 12400));
  EXPECT_THAT(bytes(MakeLayer(Function::kAveragePool, 8, 2)),
              ElementsAre(0, 32, 0));
  EXPECT_THAT(bytes(MakeLayer(Function::kFullyConnected, 8, 1)),
              ElementsAre(0, 0, 32));
}

TEST(Workspace, KnowsProcessors) {
  EXPECT_EQ(*ExtensionOf("cortex-m0plus"), Extension::kNone);
  EXPECT_EQ(*ExtensionOf("cortex-m7"), Extension::kDsp);
  EXPECT_EQ(*ExtensionOf("cortex-m55"), Extension::kMve);
  EXPECT_THAT(std::string(ExtensionOf("haswell").status().message()),
              HasSubstr("cortex-m4"));
}

TEST(FixedPoint, IsTheNearest) {
  const FixedPoint half = ToFixedPoint(0.5);
  EXPECT_EQ(half.multiplier, 1 << 30);
  EXPECT_EQ(half.shift, 0);
  const FixedPoint third = ToFixedPoint(1.0 / 3);
  EXPECT_EQ(third.multiplier, 1431655765);  // 2/3 of 2^31
  EXPECT_EQ(third.shift, -1);
  // One that rounds up to a power of two.
  const FixedPoint one = ToFixedPoint(1 - 1e-12);
  EXPECT_EQ(one.multiplier, 1 << 30);
  EXPECT_EQ(one.shift, 1);
  EXPECT_EQ(ToFixedPoint(1e-12).multiplier, 0);
}

}  // namespace
}  // namespace ingot::cmsis_nn
