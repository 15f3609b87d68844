// Operators as they were in operator sets that models still come in.
#include <cmath>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

// Slopes are of channels up to operator set 6, and broadcast since 7; one for
// each channel, which does not broadcast, is still taken for what it is.
TEST(OlderOpsetsTest, PReluSlopes) {
  const Tensor square = Floats({1, 2, 1, 2}, {-1, -1, -1, -1});
  const Tensor slopes = Floats({2}, {3, 5});
  ExpectNear(RunFloats({"PRelu", "", 6}, {square, slopes}), {-3, -3, -5, -5});
  for (const int opset : {7, 8, 9}) {
    ExpectNear(RunFloats({"PRelu", "", opset}, {square, slopes}),
               {-3, -5, -3, -5});
  }
  const Tensor wide = Floats({1, 2, 1, 3}, {-1, -1, -1, -1, -1, -1});
  ExpectNear(RunFloats({"PRelu", "", 8}, {wide, slopes}),
             {-3, -3, -3, -5, -5, -5});
}

// ONNX's case resize_downsample_nearest of operator set 10, and one dimension
// that shrinks beside one that grows.
TEST(OlderOpsetsTest, ResizeToTheNearest10) {
  const Tensor x = Floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto resized = [&](const std::vector<float>& scales, bool known) {
    return RunFloats({"Resize", "", 10},
                     {x, Operand(Floats({2}, scales), known)});
  };
  for (const bool known : {false, true}) {
    ExpectNear(resized({0.6f, 0.6f}, known), {1, 3});
    ExpectNear(resized({2, 0.75f}, known),
               {1, 3, 4, 1, 3, 4, 5, 7, 8, 5, 7, 8});
    ExpectNear(resized({1, 1.5f}, known), {1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8});
  }
}

// The power was a float in operator set 1, and 2 for the global pool, too.
TEST(OlderOpsetsTest, LpPools1) {
  const Tensor x = Floats({1, 1, 1, 3}, {1, -2, 3});
  const auto cubed = [](onnx::NodeProto* n) { SetFloat(n, "p", 3); };
  const auto pooled = [](onnx::NodeProto* n) {
    SetFloat(n, "p", 3);
    SetInts(n, "kernel_shape", {1, 2});
  };
  ExpectNear(RunFloats({"GlobalLpPool", "", 1, cubed}, {x}), {std::cbrt(36.f)});
  ExpectNear(RunFloats({"GlobalLpPool", "", 1}, {x}), {std::sqrt(14.f)});
  ExpectNear(RunFloats({"LpPool", "", 1, pooled}, {x}),
             {std::cbrt(9.f), std::cbrt(35.f)});
  EXPECT_FALSE(RunOperator({"GlobalLpPool", "", 1,
                            [](onnx::NodeProto* n) { SetFloat(n, "p", 2.5f); }},
                           {x})
                   .ok());
}

TEST(OlderOpsetsTest, Upsample1) {
  const auto scales = [](onnx::NodeProto* n) {
    SetFloat(n, "height_scale", 2);
    SetFloat(n, "width_scale", 1.5f);
  };
  const Tensor x = Floats({1, 1, 1, 2}, {1, 2});
  ExpectNear(RunFloats({"Upsample", "", 1, scales}, {x}), {1, 1, 2, 1, 1, 2});
  EXPECT_FALSE(
      RunOperator({"Upsample", "", 1, scales}, {Floats({2}, {1, 2})}).ok());
}

TEST(OlderOpsetsTest, Split1) {
  const Tensor x = Floats({3}, {1, 2, 3});
  const Operator op{"Split", "", 1, nullptr, 2};
  for (const bool known : {false, true}) {
    const std::vector<Tensor> parts =
        Outputs(op, {x, Operand(Floats({2}, {1, 2}), known)});
    ExpectNear(ValuesOf(parts[0]), {1});
    ExpectNear(ValuesOf(parts[1]), {2, 3});
  }
}

}  // namespace
}  // namespace ingot::onnx_frontend
