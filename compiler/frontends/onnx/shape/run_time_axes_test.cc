// Axes, steps and the like that only a run knows, by numbers that are worked
// out by hand or those of the same operator with constants.
#include "compiler/frontends/onnx/shape/run_time_axes.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using testing::HasSubstr;
using Node = onnx::NodeProto;

Tensor Counted(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t d : shape) count *= d;
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return Floats(shape, values);
}

std::string ShapeOfOutput(const Operator& op,
                          const std::vector<Operand>& operands) {
  return Outputs(op, operands)[0].TypeString();
}

TEST(RunTimeAxesTest, SqueezeAndUnsqueeze) {
  const Tensor x = Counted({1, 3, 1, 2});
  EXPECT_EQ(ShapeOfOutput({"Squeeze", "", 13}, {x, Longs({1}, {-2})}),
            "f32[1, 3, 2]");
  EXPECT_EQ(ShapeOfOutput({"Squeeze", "", 13}, {x, Longs({2}, {2, 0})}),
            "f32[3, 2]");
  EXPECT_EQ(
      ShapeOfOutput({"Squeeze", "", 13}, {Counted({1, 1}), Longs({2}, {0, 1})}),
      "f32[]");
  EXPECT_EQ(ShapeOfOutput({"Unsqueeze", "", 13},
                          {Counted({3, 2}), Longs({3}, {4, 0, -3})}),
            "f32[1, 3, 1, 2, 1]");
  EXPECT_EQ(ShapeOfOutput({"Unsqueeze", "", 13},
                          {Floats({}, {5}), Longs({2}, {1, 0})}),
            "f32[1, 1]");
  EXPECT_EQ(
      ShapeOfOutput({"Unsqueeze", "", 13}, {Floats({}, {5}), Longs({1}, {0})}),
      "f32[1]");
  // Dimension 1 is not 1; no dimension 4; one twice.
  for (const std::vector<int64_t>& axes :
       std::vector<std::vector<int64_t>>{{0, 1}, {0, 4}, {2, 2}}) {
    EXPECT_FALSE(RunOperator({"Squeeze", "", 13}, {x, Longs({2}, axes)}).ok());
  }
  const absl::Status how_many =
      RunOperator({"Squeeze", "", 13}, {x, Symbolic(Longs({1}, {0}))}).status();
  EXPECT_THAT(std::string(how_many.message()),
              HasSubstr("how many axes there are is not known"));
}

TEST(RunTimeAxesTest, Reductions) {
  const Tensor x = RandomFloats({2, 3, 4}, 1);
  for (const char* name : {"ReduceSum", "ReduceMax", "ReduceL2",
                           "ReduceLogSumExp", "ReduceMean"}) {
    for (const int keepdims : {0, 1}) {
      const Operator op{name, "", 18,
                        [=](Node* n) { SetInt(n, "keepdims", keepdims); }};
      for (const std::vector<int64_t>& axes :
           std::vector<std::vector<int64_t>>{{1}, {-1, 0}, {2, 0, 1}}) {
        const Tensor at = Longs({static_cast<int64_t>(axes.size())}, axes);
        const Tensor known = Outputs(op, {x, Constant(at)})[0];
        const Tensor told = Outputs(op, {x, at})[0];
        EXPECT_EQ(told.TypeString(), known.TypeString()) << name;
        const auto values = known.values<float>();
        ExpectNear({told.values<float>().begin(), told.values<float>().end()},
                   {values.begin(), values.end()});
      }
    }
  }
  EXPECT_FALSE(RunOperator({"ReduceSum", "", 13}, {x, Longs({1}, {3})}).ok());
  // No axes at all are known to be none.
  EXPECT_EQ(ShapeOfOutput({"ReduceSum", "", 13}, {x, Longs({0}, {})}),
            "f32[1, 1, 1]");
}

TEST(RunTimeAxesTest, Slices) {
  const Tensor x = Counted({4, 5});
  const Operator slice{"Slice", "", 13};
  const int64_t far = std::numeric_limits<int64_t>::max();
  const int64_t low = std::numeric_limits<int64_t>::min();
  ExpectNear(RunFloats(slice, {x, Longs({2}, {0, 3}), Longs({2}, {far, 1}),
                               Longs({2}, {-1, 0}), Longs({2}, {2, -1})}),
             {15, 17, 19, 10, 12, 14});
  ExpectNear(RunFloats(slice, {x, Longs({1}, {-1}), Longs({1}, {low}),
                               Longs({1}, {0}), Longs({1}, {-3})}),
             {15, 16, 17, 18, 19, 0, 1, 2, 3, 4});
  ExpectNear(RunFloats(slice, {x, Longs({2}, {2, 1}), Longs({2}, {3, 3}),
                               LeftOut(), Longs({2}, {1, 1})}),
             {11, 12});
  EXPECT_EQ(ShapeOfOutput(
                slice, {x, Longs({1}, {3}), Longs({1}, {1}), Longs({1}, {1})}),
            "f32[4, 0]");
  EXPECT_FALSE(RunOperator(slice, {x, Longs({1}, {0}), Longs({1}, {1}),
                                   Longs({1}, {0}), Longs({1}, {0})})
                   .ok());
}

TEST(RunTimeAxesTest, Pads) {
  const Tensor x = Counted({2, 3});
  const Operand value = Constant(Floats({}, {9}));
  ExpectNear(RunFloats({"Pad", "", 18},
                       {x, Longs({2}, {1, -1}), value, Longs({1}, {-1})}),
             {9, 0, 1, 9, 3, 4});
  ExpectNear(RunFloats({"Pad", "", 18}, {x, Constant(Longs({4}, {0, 1, 0, 0})),
                                         value, Longs({2}, {1, 0})}),
             {9, 9, 9, 0, 1, 2, 3, 4, 5});
  EXPECT_FALSE(RunOperator({"Pad", "", 18},
                           {x, Longs({2}, {1, 1}), value, Longs({1}, {2})})
                   .ok());
}

TEST(RunTimeAxesTest, DiagonalsAndWindows) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Operator lower{"Trilu", "", 14, [](Node* n) { SetInt(n, "upper", 0); }};
  ExpectNear(RunFloats({"Trilu", "", 14}, {x, Longs({}, {1})}),
             {0, 2, 3, 0, 0, 6});
  ExpectNear(RunFloats(lower, {x, Longs({1}, {-1})}), {0, 0, 0, 4, 0, 0});
  ExpectNear(RunFloats({"HannWindow", "", 17}, {Longs({}, {4})}),
             {0, 0.5f, 1, 0.5f});
  const Operator symmetric{"BlackmanWindow", "", 17,
                           [](Node* n) { SetInt(n, "periodic", 0); }};
  ExpectNear(RunFloats(symmetric, {Longs({}, {5})}), {0, 0.34f, 1, 0.34f, 0});
}

}  // namespace
}  // namespace ingot::onnx_frontend
