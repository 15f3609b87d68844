// Cropping, grids, deformable windows and antialiasing against numbers that
// ONNX's specification gives, or loops over every element.
#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

std::vector<float> Counting(int n, int first = 0) {
  std::vector<float> v;
  for (int i = 0; i < n; ++i) v.push_back(static_cast<float>(first + i));
  return v;
}

TEST(ImageTest, CenterCropPad) {
  // 3 x 5 to 4 x 2: a row of zeros at the end, columns 1 and 2 kept.
  const Tensor x = Floats({3, 5}, Counting(15));
  ExpectNear(RunFloats({"CenterCropPad"}, {x, Constant(Longs({2}, {4, 2}))}),
             {1, 2, 6, 7, 11, 12, 0, 0});
  const Operator columns{"CenterCropPad", "", 18,
                         [](onnx::NodeProto* n) { SetInts(n, "axes", {-1}); }};
  ExpectNear(
      RunFloats(columns, {Floats({1, 2}, {7, 8}), Constant(Longs({1}, {5}))}),
      {0, 7, 8, 0, 0});
}

// The sums that the definition gives: each column's element into the image.
std::vector<float> ColumnsToImage(const std::vector<float>& x, int channels,
                                  int height, int width, int kh, int kw,
                                  int stride, int dilation, int pad) {
  const int rows = (height + 2 * pad - dilation * (kh - 1) - 1) / stride + 1;
  const int columns = (width + 2 * pad - dilation * (kw - 1) - 1) / stride + 1;
  std::vector<float> image(channels * height * width, 0);
  for (int c = 0; c < channels; ++c) {
    for (int i = 0; i < kh; ++i) {
      for (int j = 0; j < kw; ++j) {
        for (int r = 0; r < rows; ++r) {
          for (int q = 0; q < columns; ++q) {
            const int y = r * stride - pad + i * dilation;
            const int z = q * stride - pad + j * dilation;
            if (y < 0 || y >= height || z < 0 || z >= width) continue;
            image[(c * height + y) * width + z] +=
                x[(((c * kh + i) * kw + j) * rows + r) * columns + q];
          }
        }
      }
    }
  }
  return image;
}

TEST(ImageTest, Col2Im) {
  // Blocks of 2 x 3 in two channels of 6 x 7, a step of 2, a border of 1.
  const Tensor x = RandomFloats({1, 12, 12}, 1);
  const Operator op{"Col2Im", "", 18, [](onnx::NodeProto* n) {
                      SetInts(n, "strides", {2, 2});
                      SetInts(n, "pads", {1, 1, 1, 1});
                    }};
  ExpectNear(RunFloats(op, {x, Constant(Longs({2}, {6, 6})),
                            Constant(Longs({2}, {2, 3}))}),
             ColumnsToImage(ValuesOf(x), 2, 6, 6, 2, 3, 2, 1, 1));
  const Tensor y = RandomFloats({1, 4, 9}, 2);
  const Operator dilated{"Col2Im", "", 18, [](onnx::NodeProto* n) {
                           SetInts(n, "dilations", {2, 2});
                         }};
  ExpectNear(RunFloats(dilated, {y, Constant(Longs({2}, {5, 5})),
                                 Constant(Longs({2}, {2, 2}))}),
             ColumnsToImage(ValuesOf(y), 1, 5, 5, 2, 2, 1, 2, 0));
  // A line of 5 from blocks of 2, a step of 2: the last element stays 0.
  const Operator line{"Col2Im", "", 18,
                      [](onnx::NodeProto* n) { SetInts(n, "strides", {2}); }};
  ExpectNear(
      RunFloats(line, {Floats({1, 2, 2}, {1, 2, 3, 4}),
                       Constant(Longs({1}, {5})), Constant(Longs({1}, {2}))}),
      {1, 3, 2, 4, 0});
}

TEST(ImageTest, AffineGrid) {
  // One image of 2 x 3; x is doubled and moved, y is swapped for -y.
  const Tensor theta = Floats({1, 2, 3}, {2, 0, 0.5f, 0, -1, 0});
  const Operand size = Constant(Longs({4}, {1, 1, 2, 3}));
  std::vector<float> centres, corners;
  for (float y : {-0.5f, 0.5f}) {
    for (float x : {-2.0f / 3, 0.0f, 2.0f / 3}) {
      centres.insert(centres.end(), {2 * x + 0.5f, -y});
    }
  }
  for (float y : {-1.0f, 1.0f}) {
    for (float x : {-1.0f, 0.0f, 1.0f}) {
      corners.insert(corners.end(), {2 * x + 0.5f, -y});
    }
  }
  ExpectNear(RunFloats({"AffineGrid"}, {theta, size}), centres);
  const Operator aligned{"AffineGrid", "", 20, [](onnx::NodeProto* n) {
                           SetInt(n, "align_corners", 1);
                         }};
  ExpectNear(RunFloats(aligned, {theta, size}), corners);
}

// The element of a plane between its elements, 0 outside.
double Between(const float* plane, int height, int width, double y, double x) {
  double sum = 0;
  const int top = static_cast<int>(std::floor(y));
  const int left = static_cast<int>(std::floor(x));
  for (int i = top; i <= top + 1; ++i) {
    for (int j = left; j <= left + 1; ++j) {
      if (i < 0 || i >= height || j < 0 || j >= width) continue;
      sum += (1 - std::fabs(y - i)) * (1 - std::fabs(x - j)) *
             plane[i * width + j];
    }
  }
  return sum;
}

TEST(ImageTest, DeformConv) {
  // Four channels in two groups, their offsets in two groups too.
  constexpr int kH = 4, kW = 5, kOut = 3 * 4, kTaps = 4;
  const Tensor x = RandomFloats({1, 4, kH, kW}, 3);
  const Tensor w = RandomFloats({2, 2, 2, 2}, 4);
  const Tensor offset = RandomFloats({1, 2 * kTaps * 2, 3, 4}, 5);
  const Tensor bias = RandomFloats({2}, 6);
  const Tensor mask = RandomFloats({1, 2 * kTaps, 3, 4}, 7);
  std::vector<float> expected;
  for (int o = 0; o < 2; ++o) {
    for (int r = 0; r < 3; ++r) {
      for (int q = 0; q < 4; ++q) {
        double sum = ValuesOf(bias)[o];
        for (int c = 0; c < 2; ++c) {
          const int channel = o * 2 + c, group = channel / 2;
          for (int tap = 0; tap < kTaps; ++tap) {
            const int at = (group * kTaps + tap) * 2 * kOut + r * 4 + q;
            const double y = r + tap / 2 + ValuesOf(offset)[at];
            const double z = q + tap % 2 + ValuesOf(offset)[at + kOut];
            sum += ValuesOf(w)[(o * 2 + c) * kTaps + tap] *
                   ValuesOf(mask)[(group * kTaps + tap) * kOut + r * 4 + q] *
                   Between(&x.data<float>()[channel * kH * kW], kH, kW, y, z);
          }
        }
        expected.push_back(static_cast<float>(sum));
      }
    }
  }
  const Operator op{"DeformConv", "", 19, [](onnx::NodeProto* n) {
                      SetInt(n, "group", 2);
                      SetInt(n, "offset_group", 2);
                    }};
  ExpectNear(RunFloats(op, {x, w, offset, bias, mask}), expected, 1e-4f);
}

// ONNX Runtime's numbers.
TEST(ImageTest, RoiAlign) {
  std::vector<float> x;
  for (int i = 0; i < 20; ++i)
    x.push_back(static_cast<float>(i * 7 % 11 - 5) / 2);
  const Tensor rois = Floats({2, 4}, {0.5f, 0.25f, 4.5f, 3, 1, 1, 1.5f, 1.25f});
  auto run = [&](const char* mode, int64_t ratio) {
    const Operator op{"RoiAlign", "", 16, [mode, ratio](onnx::NodeProto* n) {
                        SetString(n, "mode", mode);
                        SetInt(n, "sampling_ratio", ratio);
                        SetInt(n, "output_height", 2);
                        SetInt(n, "output_width", 2);
                      }};
    return RunFloats(op, {Floats({1, 1, 4, 5}, x), rois, Longs({2}, {0, 0})});
  };
  ExpectNear(run("avg", 0), {0.0625f, 0.359375f, -0.58203125f, 0.080078125f,
                             0.25f, 1.125f, 0.375f, 1.25f});
  ExpectNear(run("max", 0), {0.78125f, 1.1328125f, 0.53125f, 1.0546875f,
                             0.703125f, 0.984375f, 0.859375f, 1.203125f});
  ExpectNear(run("max", 2),
             {0.78125f, 1.1328125f, 0.53125f, 1.0546875f, 0.81640625f,
              1.11328125f, 0.98828125f, 1.34765625f});
}

TEST(ImageTest, MaxRoiPool) {
  const Tensor x = Floats({1, 1, 4, 4}, Counting(16));
  // Columns 0 to 3 and rows 1 to 3 at half the scale, in 1 x 2 bins.
  const Tensor rois = Floats({1, 5}, {0, 0, 2, 6, 6});
  const Operator op{"MaxRoiPool", "", 22, [](onnx::NodeProto* n) {
                      SetInts(n, "pooled_shape", {1, 2});
                      SetFloat(n, "spatial_scale", 0.5f);
                    }};
  ExpectNear(RunFloats(op, {x, rois}), {13, 15});
}

TEST(ImageTest, GridSampleInThreeDimensions) {
  // Between two planes, on an element and outside.
  const Tensor x = Floats({1, 1, 2, 2, 2}, Counting(8, 1));
  const Tensor grid = Floats({1, 1, 1, 3, 3}, {-1, -1, 0, 1, -1, 1, 3, 0, 0});
  const Operator op{"GridSample", "", 20,
                    [](onnx::NodeProto* n) { SetInt(n, "align_corners", 1); }};
  ExpectNear(RunFloats(op, {x, grid}), {3, 6, 0});
}

// A filter as wide as two elements of the result.
TEST(ImageTest, ResizeAntialiasedLinear) {
  const Tensor x = Floats({1, 6}, {1, 2, 4, 8, 16, 32});
  const Operator op{"Resize", "", 18, [](onnx::NodeProto* n) {
                      SetInt(n, "antialias", 1);
                      SetString(n, "mode", "linear");
                    }};
  std::vector<float> expected;
  for (int i = 0; i < 3; ++i) {
    const double at = (i + 0.5) * 2 - 0.5;
    double sum = 0, weights = 0;
    for (int j = -4; j < 10; ++j) {
      const double weight = std::max(0.0, 1 - std::fabs(j - at) / 2);
      weights += weight;
      sum += weight * ValuesOf(x)[std::clamp(j, 0, 5)];
    }
    expected.push_back(static_cast<float>(sum / weights));
  }
  ExpectNear(
      RunFloats(op, {x, LeftOut(), LeftOut(), Constant(Longs({2}, {1, 3}))}),
      expected);
}

// The numbers of ONNX's cases resize_downsample_sizes_linear_antialias and
// resize_downsample_scales_cubic_antialias.
TEST(ImageTest, ResizeAntialiasedAsOnnxDoes) {
  const Tensor x = Floats({1, 1, 4, 4}, Counting(16, 1));
  const Operator op{"Resize", "", 18, [](onnx::NodeProto* n) {
                      SetInt(n, "antialias", 1);
                      SetString(n, "mode", "linear");
                    }};
  ExpectNear(RunFloats(op, {x, LeftOut(), LeftOut(),
                            Constant(Longs({4}, {1, 1, 3, 3}))}),
             {2.3636363f, 3.590909f, 4.818182f, 7.2727275f, 8.5f, 9.727273f,
              12.181818f, 13.409091f, 14.636364f},
             1e-4f);
}

TEST(ImageTest, ResizeAntialiasedCubic) {
  const Tensor x = Floats({1, 1, 4, 4}, Counting(16, 1));
  const Operator op{"Resize", "", 18, [](onnx::NodeProto* n) {
                      SetInt(n, "antialias", 1);
                      SetString(n, "mode", "cubic");
                    }};
  ExpectNear(
      RunFloats(op, {x, LeftOut(), Constant(Floats({4}, {1, 1, 0.6f, 0.6f}))}),
      {2.5180721f, 4.2858863f, 9.589329f, 11.357142f}, 1e-4f);
}

// Bytes are rounded once, at the end, and not beyond their range.
TEST(ImageTest, ResizeAntialiasedBytes) {
  for (const char* mode : {"linear", "cubic"}) {
    const Operator op{"Resize", "", 18, [mode](onnx::NodeProto* n) {
                        SetInt(n, "antialias", 1);
                        SetString(n, "mode", mode);
                      }};
    std::vector<uint8_t> bytes(99, 255), edges(99, 0);
    std::vector<float> floats;
    for (int i = 0; i < 99; ++i) {
      if (i % 11 > 5) edges[i] = 255;
      floats.push_back(edges[i]);
    }
    const auto resized = [&](const Tensor& x) {
      return Outputs(
          op, {x, LeftOut(), LeftOut(), Constant(Longs({2}, {4, 5}))})[0];
    };
    const Tensor white = resized(Bytes({9, 11}, bytes));
    for (const uint8_t byte : white.values<uint8_t>()) {
      EXPECT_EQ(byte, 255) << mode;
    }
    const Tensor of_bytes = resized(Bytes({9, 11}, edges));
    const Tensor of_floats = resized(Floats({9, 11}, floats));
    for (int i = 0; i < 20; ++i) {
      EXPECT_NEAR(of_bytes.data<uint8_t>()[i],
                  std::clamp(of_floats.data<float>()[i], 0.0f, 255.0f), 0.501)
          << mode << i;
    }
  }
}

// Numbers of 64 bits are not rounded to 32 on the way.
TEST(ImageTest, ResizeOfDoubles) {
  const Tensor x = MakeTestTensor<double>(DataType::Float(64), {2}, {0.1, 0.7});
  const Operator op{"Resize", "", 13,
                    [](onnx::NodeProto* n) { SetString(n, "mode", "linear"); }};
  const Tensor y =
      Outputs(op, {x, LeftOut(), Constant(Floats({1}, {2})), LeftOut()})[0];
  const double expected[] = {0.1, 0.1 * 0.75 + 0.7 * 0.25,
                             0.1 * 0.25 + 0.7 * 0.75, 0.7};
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(y.data<double>()[i], expected[i], 1e-15) << i;
  }
}

// Half as many elements, rounded down, lie two apart around the centre: at
// whole places, which no rounding may move.
TEST(ImageTest, ResizeKeepsTheCentre) {
  for (const char* rounding : {"floor", "ceil"}) {
    const Operator op{"Resize", "", 19, [rounding](onnx::NodeProto* n) {
                        SetString(n, "coordinate_transformation_mode",
                                  "half_pixel_symmetric");
                        SetString(n, "mode", "nearest");
                        SetString(n, "nearest_mode", rounding);
                      }};
    for (const int64_t extent : {3, 5, 7, 9, 11, 13, 25}) {
      std::vector<float> expected;
      for (int64_t place = 1; place < extent; place += 2) {
        expected.push_back(static_cast<float>(place));
      }
      const Tensor x =
          Floats({extent, 1}, Counting(static_cast<int>(extent), 0));
      ExpectNear(
          RunFloats(op, {x, LeftOut(), Constant(Floats({2}, {0.5f, 1}))}),
          expected);
    }
  }
}

}  // namespace
}  // namespace ingot::onnx_frontend
