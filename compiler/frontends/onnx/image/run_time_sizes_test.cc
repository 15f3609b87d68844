// Sizes and regions that only a run knows: the numbers of the same operator
// with constants, which image_test.cc compares with those of specifications.
#include <string>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gmock/gmock.h"

namespace ingot::onnx_frontend {
namespace {

using testing::HasSubstr;

using Node = onnx::NodeProto;

// Expects the same output where operands from `first` on are inputs of the run,
// as where they are constants; and where no shape is
// known of those before.
void ExpectSame(const Operator& op, const std::vector<Operand>& operands,
                size_t first) {
  std::vector<Operand> constants = operands, symbols = operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    constants[i].constant = i >= first;
    symbols[i].symbolic = i < first;
  }
  const Tensor expected = Outputs(op, constants)[0];
  const auto values = expected.values<float>();
  for (const std::vector<Operand>& given : {operands, symbols}) {
    const Tensor actual = Outputs(op, given)[0];
    EXPECT_EQ(actual.TypeString(), expected.TypeString()) << op.op;
    if (actual.TypeString() != expected.TypeString()) return;
    ExpectNear({actual.values<float>().begin(), actual.values<float>().end()},
               {values.begin(), values.end()});
  }
}

TEST(RunTimeSizesTest, AffineGrid) {
  for (int64_t align : {0, 1}) {
    const Operator op{"AffineGrid", "", 20,
                      [align](Node* n) { SetInt(n, "align_corners", align); }};
    ExpectSame(op, {RandomFloats({2, 2, 3}, 1), Longs({4}, {2, 3, 5, 1})}, 1);
    ExpectSame(op, {RandomFloats({2, 3, 4}, 2), Longs({5}, {2, 3, 2, 3, 4})},
               1);
  }
  // Sizes for another batch, and for more dimensions, than theta has.
  const Tensor theta = RandomFloats({1, 2, 3}, 1);
  EXPECT_FALSE(
      RunOperator({"AffineGrid", "", 20}, {theta, Longs({5}, {1, 1, 2, 2, 2})})
          .ok());
}

TEST(RunTimeSizesTest, CenterCropPad) {
  const Tensor x = RandomFloats({4, 7, 3}, 1);
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {4, 7, 3}, {2, 4, 3}, {9, 8, 3}, {1, 12, 6}, {0, 7, 4}}) {
    ExpectSame({"CenterCropPad", "", 18}, {x, Longs({3}, sizes)}, 1);
  }
  const Operator some{"CenterCropPad", "", 18, [](Node* n) {
                        SetInts(n, "axes", {-1, 0});
                      }};
  ExpectSame(some, {x, Longs({2}, {8, 3})}, 1);
  EXPECT_FALSE(
      RunOperator({"CenterCropPad", "", 18}, {x, Longs({3}, {4, -1, 3})}).ok());
}

TEST(RunTimeSizesTest, Col2Im) {
  const Operator op{"Col2Im", "", 18, [](Node* n) {
                      SetInts(n, "strides", {2, 1});
                      SetInts(n, "dilations", {1, 2});
                      SetInts(n, "pads", {1, 0, 0, 2});
                    }};
  // Blocks of 2 x 3 in an image of 5 x 6: 3 x 4 of them.
  ExpectSame(
      op,
      {RandomFloats({2, 12, 12}, 1), Longs({2}, {5, 6}), Longs({2}, {2, 3})},
      1);
  ExpectSame({"Col2Im", "", 18},
             {RandomFloats({1, 10, 12}, 2), Longs({3}, {3, 4, 5}),
              Longs({3}, {1, 1, 5})},
             1);
  ExpectSame({"Col2Im", "", 18},
             {RandomFloats({1, 4, 4}, 3), Longs({1}, {5}), Longs({1}, {2})}, 1);
  // Another number of blocks, and a block that is larger than the image.
  const Tensor x = RandomFloats({1, 4, 4}, 3);
  for (int64_t image : {4, 6, 1}) {
    EXPECT_FALSE(RunOperator({"Col2Im", "", 18},
                             {x, Longs({1}, {image}), Longs({1}, {2})})
                     .ok())
        << image;
  }
  EXPECT_FALSE(
      RunOperator({"Col2Im", "", 18}, {x, Longs({1}, {5}), Longs({1}, {0})})
          .ok());
}

Operator Resize(const std::string& mode, const std::string& coordinates,
                bool antialias = false, bool exclude_outside = false) {
  return {"Resize", "", 19, [=](Node* n) {
            SetString(n, "mode", mode);
            SetString(n, "coordinate_transformation_mode", coordinates);
            SetInt(n, "antialias", antialias);
            SetInt(n, "exclude_outside", exclude_outside);
          }};
}

TEST(RunTimeSizesTest, ResizeOfARegion) {
  const Tensor x = RandomFloats({1, 2, 5, 6}, 1);
  const Tensor roi = Floats({8}, {0, 0, 0.2f, 0.4f, 1, 1, 0.7f, 1.3f});
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    const Operator op = Resize(mode, "tf_crop_and_resize");
    ExpectSame(op, {x, roi, LeftOut(), Longs({4}, {1, 2, 3, 4})}, 1);
    ExpectSame(op, {x, roi, Floats({4}, {1, 1, 0.6f, 1.5f})}, 1);
  }
  const Operator planes{"Resize", "", 19, [](Node* n) {
                          SetString(n, "mode", "linear");
                          SetString(n, "coordinate_transformation_mode",
                                    "tf_crop_and_resize");
                          SetInts(n, "axes", {3, 2});
                        }};
  ExpectSame(
      planes,
      {x, Floats({4}, {0.4f, 0.2f, 1.3f, 0.7f}), LeftOut(), Longs({2}, {4, 3})},
      1);
  EXPECT_FALSE(
      RunOperator(planes, {x, roi, LeftOut(), Longs({2}, {4, 3})}).ok());
}

TEST(RunTimeSizesTest, ScalesAreCounted) {
  const Tensor x = RandomFloats({1, 2, 5, 6}, 1);
  const absl::Status status =
      RunOperator(Resize("linear", "half_pixel"),
                  {x, LeftOut(), Symbolic(Floats({4}, {1, 1, 2, 2}))})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("how many scales there are is not known"));
}

// Sizes that a run tells might give a dimension without elements some.
TEST(RunTimeSizesTest, ResizeOfNothing) {
  const Tensor x = RandomFloats({0, 2, 5}, 1);
  const Operator op = Resize("linear", "half_pixel");
  ExpectSame(op, {x, LeftOut(), Floats({3}, {3, 1, 2})}, 1);
  const absl::Status status =
      RunOperator(op, {x, LeftOut(), LeftOut(), Longs({3}, {0, 2, 7})})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("whether dimension 0, which has no elements, stays so"));
}

// Of more than two dimensions: what resampling them one after the other gives,
// the last one first.
TEST(RunTimeSizesTest, CubicResizeOfManyDimensions) {
  const Tensor x = RandomFloats({3, 4, 5, 6}, 1);
  const std::vector<int64_t> sizes = {5, 3, 8, 7};
  const auto along = [](int64_t axis) {
    return Operator{"Resize", "", 19, [axis](Node* n) {
                      SetString(n, "mode", "cubic");
                      SetInts(n, "axes", {axis});
                    }};
  };
  Tensor expected = x;
  for (int64_t axis = 3; axis >= 0; --axis) {
    expected = Outputs(along(axis), {expected, LeftOut(), LeftOut(),
                                     Longs({1}, {sizes[axis]})})[0];
  }
  const Operator op = Resize("cubic", "half_pixel");
  ExpectSame(op, {x, LeftOut(), LeftOut(), Longs({4}, sizes)}, 1);
  const Tensor actual =
      Outputs(op, {x, LeftOut(), LeftOut(), Longs({4}, sizes)})[0];
  const auto values = expected.values<float>();
  ExpectNear({actual.values<float>().begin(), actual.values<float>().end()},
             {values.begin(), values.end()});
}

TEST(RunTimeSizesTest, AntialiasedResize) {
  const Tensor x = RandomFloats({1, 1, 7, 9}, 1);
  for (const char* mode : {"linear", "cubic"}) {
    for (const char* coordinates :
         {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel",
          "half_pixel_symmetric"}) {
      for (bool exclude : {false, true}) {
        const Operator op = Resize(mode, coordinates, true, exclude);
        ExpectSame(op, {x, LeftOut(), LeftOut(), Longs({4}, {1, 1, 3, 4})}, 1);
        ExpectSame(op, {x, LeftOut(), LeftOut(), Longs({4}, {1, 1, 11, 1})}, 1);
        ExpectSame(op, {x, LeftOut(), Floats({4}, {1, 1, 0.6f, 1.7f})}, 1);
      }
    }
  }
  ExpectSame(Resize("linear", "half_pixel", true),
             {x, LeftOut(), LeftOut(), Longs({4}, {1, 1, 0, 4})}, 1);
}

}  // namespace
}  // namespace ingot::onnx_frontend
