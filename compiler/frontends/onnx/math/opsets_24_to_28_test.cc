// Operators that came or changed in operator sets 24 to 28, with numbers of
// ONNX's cases or worked out by hand.
#include <cmath>
#include <cstdint>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

using testing::ElementsAre;
using Node = onnx::NodeProto;

Tensor Halves(const std::vector<int64_t>& shape,
              const std::vector<uint16_t>& bits) {
  return MakeTestTensor<uint16_t>(DataType::Float(16), shape, bits);
}

TEST(Opset24Test, Swish) {
  const Operator op{"Swish", "", 24,
                    [](Node* n) { SetFloat(n, "alpha", 0.5f); }};
  ExpectNear(RunFloats(op, {Floats({3}, {3, 4, 5})}),
             {2.45272f, 3.52319f, 4.62071f});
}

// Batches of a cache of 4 places for 2 features.
TEST(Opset24Test, TensorScatter) {
  const Tensor cache =
      Floats({2, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 8, 7, 7, 6, 6});
  const Tensor update = Floats({2, 2, 2}, {10, 11, 12, 13, 20, 21, 22, 23});
  ExpectNear(
      RunFloats({"TensorScatter", "", 24}, {cache, update, Longs({2}, {1, 2})}),
      {1, 2, 10, 11, 12, 13, 7, 8, 9, 9, 8, 8, 20, 21, 22, 23});
  const Operator circular{"TensorScatter", "", 24,
                          [](Node* n) { SetString(n, "mode", "circular"); }};
  ExpectNear(RunFloats(circular, {cache, update, Longs({2}, {3, 0})}),
             {12, 13, 3, 4, 5, 6, 10, 11, 20, 21, 22, 23, 7, 7, 6, 6});
  // Without places the update goes to the front; the axis may be another.
  const Operator last{"TensorScatter", "", 24,
                      [](Node* n) { SetInt(n, "axis", -1); }};
  ExpectNear(RunFloats(last, {Floats({1, 2, 3}, {1, 2, 3, 4, 5, 6}),
                              Floats({1, 2, 1}, {7, 8})}),
             {7, 2, 3, 8, 5, 6});
  // Every place around a circle is one.
  ExpectNear(RunFloats(circular, {cache, update, Longs({2}, {-5, INT64_MAX})}),
             {12, 13, 3, 4, 5, 6, 10, 11, 22, 23, 8, 8, 7, 7, 20, 21});
  // Otherwise the entries of a place outside of the cache are refused.
  for (const int64_t bad : {int64_t{-1}, int64_t{3}, INT64_MIN, INT64_MAX}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        RunOperator({"TensorScatter", "", 24},
                    {cache, update, Longs({2}, {0, bad})})
            .status()))
        << bad;
  }
  const Operator batches{"TensorScatter", "", 24,
                         [](Node* n) { SetInt(n, "axis", 0); }};
  EXPECT_TRUE(
      absl::IsInvalidArgument(RunOperator(batches, {cache, update}).status()));
}

// A cache of small floats is moved without a look at what its bytes mean.
TEST(Opset24Test, TensorScatterOfSmallFloats) {
  EXPECT_THAT(
      Outputs({"TensorScatter", "", 24},
              {OfStorageType(Bytes({1, 3, 1}, {1, 127, 255}), kFloat8E4M3FN),
               OfStorageType(Bytes({1, 1, 1}, {9}), kFloat8E4M3FN),
               Longs({1}, {1})})[0]
          .values<uint8_t>(),
      ElementsAre(1, 9, 255));
}

Operator CastBits(int to) {
  return {"BitCast", "", 26, [=](Node* n) { SetInt(n, "to", to); }};
}

TEST(Opset26Test, BitCast) {
  using Proto = onnx::TensorProto;
  EXPECT_THAT(Outputs(CastBits(Proto::INT32), {Floats({3}, {1, -2.5f, 0})})[0]
                  .values<int32_t>(),
              ElementsAre(0x3f800000, static_cast<int32_t>(0xc0200000), 0));
  EXPECT_THAT(
      Outputs(
          CastBits(Proto::DOUBLE),
          {Longs({2}, {0x3ff0000000000000, int64_t{-0x4000000000000000}})})[0]
          .values<double>(),
      ElementsAre(1, -2));
  EXPECT_THAT(Outputs(CastBits(Proto::UINT8), {SignedBytes({3}, {-1, 0, 7})})[0]
                  .values<uint8_t>(),
              ElementsAre(255, 0, 7));
  // A constant, which the importer folds.
  EXPECT_THAT(Outputs(CastBits(Proto::INT32), {Constant(Floats({1}, {1}))})[0]
                  .values<int32_t>(),
              ElementsAre(0x3f800000));
  // Types that others carry: 0b1010 as a number with a sign, and as a float.
  EXPECT_THAT(
      Outputs(CastBits(kInt4), {OfStorageType(Bytes({2}, {10, 5}), kUInt4)})[0]
          .values<int8_t>(),
      ElementsAre(-6, 5));
  EXPECT_THAT(Outputs(CastBits(kFloat4E2M1),
                      {OfStorageType(SignedBytes({2}, {-6, 5}), kInt4)})[0]
                  .values<uint8_t>(),
              ElementsAre(10, 5));
  EXPECT_THAT(Outputs(CastBits(kFloat8E5M2), {SignedBytes({1}, {-1})})[0]
                  .values<uint8_t>(),
              ElementsAre(255));
  EXPECT_TRUE(absl::IsInvalidArgument(
      RunOperator(CastBits(Proto::INT64), {Floats({1}, {1})}).status()));
}

TEST(Opset26Test, CumProd) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Operator plain{"CumProd", "", 26};
  const Operator from_end{"CumProd", "", 26, [](Node* n) {
                            SetInt(n, "exclusive", 1);
                            SetInt(n, "reverse", 1);
                          }};
  // The axis may be known, or be told by a run.
  for (const bool constant : {true, false}) {
    auto axis = [&](int64_t a) { return Operand(Longs({}, {a}), constant); };
    ExpectNear(RunFloats(plain, {x, axis(0)}), {1, 2, 3, 4, 10, 18});
    ExpectNear(RunFloats(plain, {x, axis(-1)}), {1, 2, 6, 4, 20, 120});
    ExpectNear(RunFloats(from_end, {x, axis(1)}), {6, 3, 1, 30, 6, 1});
    ExpectNear(RunFloats({"CumSum", "", 14}, {x, axis(-2)}),
               {1, 2, 3, 5, 7, 9});
  }
}

// Steps of 2.5 would be lost in f16 after 2048: 0x6800 is 2048, 0x6801 2050,
// 0x6802 2052.
TEST(Opset27Test, RangesOf16BitsAreComputedInMore) {
  const Tensor start = Halves({}, {0x6800}), limit = Halves({}, {0x6803});
  const Tensor step = Halves({}, {0x4100});
  for (const bool constant : {true, false}) {
    const Tensor range = Outputs(
        {"Range", "", 27}, {Operand(start, constant), Operand(limit, constant),
                            Operand(step, constant)})[0];
    EXPECT_EQ(range.TypeString(), "f16[3]");
    // 2050.5 and 2053 go to the nearest even.
    EXPECT_THAT(range.values<uint16_t>(), ElementsAre(0x6800, 0x6801, 0x6802));
  }
}

TEST(Opset28Test, SwiGlu) {
  const Operator op{"SwiGLU", "", 28,
                    [](Node* n) { SetFloat(n, "alpha", 0.5f); }};
  ExpectNear(RunFloats(op, {Floats({4}, {1, -2, 3, 4}),
                            Floats({4}, {0.5f, 1, -1, 2})}),
             {0.31123f, -0.53788f, -2.45272f, 7.04638f});
}

}  // namespace
}  // namespace ingot::onnx_frontend
