// MaxUnpool against places that are worked out by hand.
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

const Operator kUnpool{"MaxUnpool", "", 22, [](onnx::NodeProto* n) {
                         SetInts(n, "kernel_shape", {2, 2});
                         SetInts(n, "strides", {2, 2});
                       }};

// The elements 5 to 8, each in a block of an image of 4 x 4.
const Tensor kX = Floats({1, 1, 2, 2}, {5, 6, 7, 8});
const Tensor kPlaces = Longs({1, 1, 2, 2}, {5, 7, 13, 15});

TEST(UnpoolTest, PutsElementsAtTheirPlaces) {
  const std::vector<float> expected = {0, 0, 0, 0, 0, 5, 0, 6,
                                       0, 0, 0, 0, 0, 7, 0, 8};
  ExpectNear(RunFloats(kUnpool, {kX, kPlaces}), expected);
  ExpectNear(RunFloats(kUnpool, {Symbolic(kX), Symbolic(kPlaces)}), expected);
}

// Places count in the natural image, whatever is around it.
TEST(UnpoolTest, IntoAnotherShape) {
  for (bool constant : {true, false}) {
    auto run = [&](std::vector<int64_t> shape) {
      return RunFloats(kUnpool,
                       {kX, kPlaces, Operand(Longs({4}, shape), constant)});
    };
    ExpectNear(run({1, 1, 5, 5}), {0, 0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 0, 0,
                                   0, 0, 0, 7, 0, 8, 0, 0, 0, 0, 0, 0});
    ExpectNear(run({1, 1, 2, 6}), {0, 0, 0, 0, 0, 0, 0, 5, 0, 6, 0, 0});
    EXPECT_FALSE(
        RunOperator(kUnpool,
                    {kX, kPlaces, Operand(Longs({4}, {1, 1, -1, 5}), constant)})
            .ok());
  }
}

}  // namespace
}  // namespace ingot::onnx_frontend
