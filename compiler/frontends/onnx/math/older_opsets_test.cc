// Operators as they were in operator sets that models still come in.
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

}  // namespace
}  // namespace ingot::onnx_frontend
