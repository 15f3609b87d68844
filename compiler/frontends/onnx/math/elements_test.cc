// Types that another type carries: small floats and integers against every
// number that they have, text against the C++ library.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/model/storage_type.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "compiler/frontends/onnx/testing/text_tensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using Node = onnx::NodeProto;

struct Float8 {
  int type;
  int exponent_bits, bias;
  bool finite, one_zero;
};

constexpr Float8 kFormats[] = {{kFloat8E4M3FN, 4, 7, true, false},
                               {kFloat8E4M3FNUZ, 4, 8, true, true},
                               {kFloat8E5M2, 5, 15, false, false},
                               {kFloat8E5M2FNUZ, 5, 16, true, true}};

// Decodes a byte by the definition of the format.
float Meaning(const Float8& f, int byte) {
  const int mantissa_bits = 7 - f.exponent_bits;
  const int code = byte & 127, exponent = code >> mantissa_bits;
  const int mantissa = code & ((1 << mantissa_bits) - 1);
  const double sign = byte > 127 ? -1 : 1;
  if (f.one_zero) {
    if (byte == 128) return NAN;
  } else if (f.finite) {
    if (code == 127) return NAN;
  } else if (exponent == (1 << f.exponent_bits) - 1) {
    return mantissa == 0 ? static_cast<float>(sign * INFINITY) : NAN;
  }
  const double part = std::ldexp(mantissa, -mantissa_bits);
  return static_cast<float>(
      sign * (exponent == 0 ? std::ldexp(part, 1 - f.bias)
                            : std::ldexp(1 + part, exponent - f.bias)));
}

// The byte of the nearest finite number, of two the one with an even code; what
// is beyond the largest by half a step or more overflows to `beyond`.
int Nearest(const Float8& f, float x, bool saturate) {
  if (std::isnan(x)) return f.one_zero ? 128 : f.finite ? 127 : 126;
  const int sign = std::signbit(x) ? 128 : 0;
  int largest = 0, best = 0;
  double distance = INFINITY;
  for (int code = 0; code < 128; ++code) {
    const double v = Meaning(f, code);
    if (!std::isfinite(v)) break;
    largest = code;
    const double d = std::fabs(std::fabs(double{x}) - v);
    if (d < distance || (d == distance && code % 2 == 0)) {
      best = code;
      distance = d;
    }
  }
  const double top = Meaning(f, largest);
  const double step = top - Meaning(f, largest - 1);
  // A tie at the top goes to the even one of the codes around it.
  const bool over = std::fabs(x) > top + step / 2 ||
                    (std::fabs(x) == top + step / 2 && largest % 2 == 1);
  if (over && !saturate) {
    if (f.one_zero) return 128;
    return sign | (f.finite ? 127 : largest + 1);
  }
  if (over) best = largest;
  return f.one_zero && best == 0 ? 0 : sign | best;
}

Operator Cast(int to, int saturate = 1) {
  return {"Cast", "", 21, [=](Node* n) {
            SetInt(n, "to", to);
            if (saturate == 0) SetInt(n, "saturate", 0);
          }};
}

TEST(Float8Test, EveryByteHasItsMeaning) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<uint8_t>(i));
  for (const Float8& f : kFormats) {
    SCOPED_TRACE(relay::ToString(StorageTypeFromOnnx(f.type)));
    const std::vector<float> values =
        RunFloats(Cast(onnx::TensorProto::FLOAT),
                  {OfStorageType(Bytes({256}, bytes), f.type)});
    ASSERT_EQ(values.size(), 256u);
    for (int i = 0; i < 256; ++i) {
      const float expected = Meaning(f, i);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(values[i])) << i;
      } else {
        EXPECT_EQ(values[i], expected) << i;
        EXPECT_EQ(std::signbit(values[i]), std::signbit(expected)) << i;
      }
    }
  }
}

TEST(Float8Test, RoundsToTheNearest) {
  std::vector<float> x = {0.0f,   -0.0f, INFINITY, -INFINITY, NAN,    1e30f,
                          -1e30f, 448,   464,      465,       463.9f, 240,
                          248,    249,   57344,    61440,     65000,  1e-20f};
  for (const Float8& f : kFormats) {
    for (int code = 0; code < 127; ++code) {
      const float a = Meaning(f, code), b = Meaning(f, code + 1);
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      // The number, the middle to the next one, and just beside that.
      const float middle = (a + b) / 2;
      x.insert(x.end(), {a, middle, -middle, std::nextafter(middle, 0.0f),
                         std::nextafter(middle, INFINITY)});
    }
  }
  const Tensor tensor = Floats({static_cast<int64_t>(x.size())}, x);
  for (const Float8& f : kFormats) {
    for (bool saturate : {true, false}) {
      SCOPED_TRACE(absl::StrCat(relay::ToString(StorageTypeFromOnnx(f.type)),
                                " ", saturate));
      absl::StatusOr<std::vector<Tensor>> out =
          RunOperator(Cast(f.type, saturate ? 1 : 0), {tensor});
      ASSERT_TRUE(out.ok()) << out.status();
      const auto bytes = (*out)[0].values<uint8_t>();
      for (size_t i = 0; i < x.size(); ++i) {
        // The sign of a NaN says nothing.
        const int mask =
            std::isnan(Meaning(f, bytes[i])) && !f.one_zero ? 127 : 255;
        EXPECT_EQ(bytes[i] & mask, Nearest(f, x[i], saturate) & mask)
            << x[i] << " became " << Meaning(f, bytes[i]);
      }
    }
  }
}

TEST(Float8Test, SaysWhichAreInfiniteOrNaN) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<uint8_t>(i));
  const Operator infinite{"IsInf", "", 20};
  const Operator positive{"IsInf", "", 20,
                          [](Node* n) { SetInt(n, "detect_negative", 0); }};
  for (const Float8& f : kFormats) {
    SCOPED_TRACE(relay::ToString(StorageTypeFromOnnx(f.type)));
    const Operand x = OfStorageType(Bytes({256}, bytes), f.type);
    std::vector<bool> inf, above, nan;
    for (int i = 0; i < 256; ++i) {
      inf.push_back(std::isinf(Meaning(f, i)));
      above.push_back(Meaning(f, i) == INFINITY);
      nan.push_back(std::isnan(Meaning(f, i)));
    }
    EXPECT_THAT(Outputs(infinite, {x})[0].values<bool>(),
                ElementsAreArray(inf));
    EXPECT_THAT(Outputs(positive, {x})[0].values<bool>(),
                ElementsAreArray(above));
    EXPECT_THAT(Outputs({"IsNaN", "", 20}, {x})[0].values<bool>(),
                ElementsAreArray(nan));
  }
}

TEST(Float8Test, QuantizesAndMovesButDoesNotCompute) {
  const Tensor x = Floats({3}, {1, -3, 100});
  const Tensor scale = Floats({}, {2});
  absl::StatusOr<std::vector<Tensor>> q = RunOperator(
      {"QuantizeLinear", "", 21},
      {x, scale,
       OfStorageType(Bytes({}, {0}), kFloat8E4M3FN, /*constant=*/true)});
  ASSERT_TRUE(q.ok()) << q.status();
  std::vector<int> expected;
  for (float v : {0.5f, -1.5f, 50.0f}) {
    expected.push_back(Nearest(kFormats[0], v, true));
  }
  EXPECT_THAT((*q)[0].values<uint8_t>(), ElementsAreArray(expected));
  ExpectNear(RunFloats({"DequantizeLinear", "", 21},
                       {OfStorageType((*q)[0], kFloat8E4M3FN), scale}),
             {1, -3, Meaning(kFormats[0], expected[2]) * 2});
  absl::StatusOr<std::vector<Tensor>> turned =
      RunOperator({"Transpose", "", 21},
                  {OfStorageType(Bytes({1, 2}, {7, 9}), kFloat8E5M2)});
  ASSERT_TRUE(turned.ok()) << turned.status();
  EXPECT_THAT((*turned)[0].values<uint8_t>(), ElementsAre(7, 9));
  EXPECT_TRUE(absl::IsUnimplemented(
      RunOperator({"Neg", "", 21},
                  {OfStorageType(Bytes({1}, {7}), kFloat8E5M2)})
          .status()));
}

// The numbers of ONNX's case.
TEST(SmallFloatTest, FourBits) {
  const Tensor x =
      Floats({15}, {0.48f, 0.25f, 1.05f, -3.5f, -8, 9, 1e6f, 1e-7f, NAN,
                    INFINITY, 5, -INFINITY, -4, 0.01f, -0.0f});
  for (int saturate : {0, 1}) {
    EXPECT_THAT(Outputs(Cast(kFloat4E2M1, saturate), {x})[0].values<uint8_t>(),
                ElementsAre(1, 0, 2, 14, 15, 7, 7, 0, 8, 7, 6, 15, 14, 0, 8));
  }
  std::vector<uint8_t> codes;
  for (uint8_t i = 0; i < 16; ++i) codes.push_back(i);
  ExpectNear(
      RunFloats(Cast(onnx::TensorProto::FLOAT),
                {OfStorageType(Bytes({16}, codes), kFloat4E2M1)}),
      {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, 0, -0.5f, -1, -1.5f, -2, -3, -4, -6});
}

TEST(SmallFloatTest, ExponentsAlone) {
  const float least = std::ldexp(1.0f, -126), most = std::ldexp(1.0f, 127);
  const Tensor x =
      Floats({12}, {0, 0.124f, 0.25f, 1.1f, 1.5f, -2, 1.5f * most, INFINITY,
                    NAN, least / 2, least / 4, 0.75f * least});
  auto cast = [&](const char* rounding, int saturate) {
    Operator op = Cast(kFloat8E8M0, saturate);
    op.attributes = [=, set = op.attributes](Node* n) {
      set(n);
      SetString(n, "round_mode", rounding);
    };
    const Tensor y = Outputs(op, {x})[0];
    const auto codes = y.values<uint8_t>();
    return std::vector<int>(codes.begin(), codes.end());
  };
  EXPECT_THAT(cast("up", 1),
              ElementsAre(0, 124, 125, 128, 128, 128, 254, 255, 255, 1, 1, 1));
  EXPECT_THAT(cast("down", 1),
              ElementsAre(0, 123, 125, 127, 127, 128, 254, 255, 255, 0, 0, 0));
  EXPECT_THAT(cast("nearest", 0),
              ElementsAre(0, 124, 125, 127, 128, 128, 255, 255, 255, 0, 0, 1));
  EXPECT_TRUE(absl::IsInvalidArgument([&] {
    Operator op = Cast(kFloat8E8M0);
    op.attributes = [](Node* n) {
      SetInt(n, "to", kFloat8E8M0);
      SetString(n, "round_mode", "sideways");
    };
    return RunOperator(op, {x}).status();
  }()));
  const std::vector<float> meaning = RunFloats(
      Cast(onnx::TensorProto::FLOAT),
      {OfStorageType(Bytes({5}, {0, 1, 127, 254, 255}), kFloat8E8M0)});
  EXPECT_EQ(meaning[0], least / 2);
  EXPECT_EQ(meaning[1], least);
  EXPECT_EQ(meaning[2], 1);
  EXPECT_EQ(meaning[3], most);
  EXPECT_TRUE(std::isnan(meaning[4]));
}

TEST(SmallIntegersTest, CastsKeepLowBits) {
  const Tensor x = Floats({7}, {-9, -8, -0.5f, 2.5f, 6.6f, 7.4f, 200});
  EXPECT_THAT(Outputs(Cast(kInt4), {x})[0].values<int8_t>(),
              ElementsAre(7, -8, 0, 2, 6, 7, -8));
  EXPECT_THAT(Outputs(Cast(kUInt4), {x})[0].values<uint8_t>(),
              ElementsAre(7, 8, 0, 2, 6, 7, 8));
  EXPECT_THAT(
      Outputs(Cast(kInt4), {Longs({4}, {7, 8, 17, -1})})[0].values<int8_t>(),
      ElementsAre(7, -8, 1, -1));
  const Tensor around = Floats({7}, {-3, -2, -1, 0, 1, 2, 3});
  EXPECT_THAT(Outputs(Cast(kInt2), {around})[0].values<int8_t>(),
              ElementsAre(1, -2, -1, 0, 1, -2, -1));
  EXPECT_THAT(Outputs(Cast(kUInt2), {around})[0].values<uint8_t>(),
              ElementsAre(1, 2, 3, 0, 1, 2, 3));
}

// The numbers of ONNX's case.
TEST(SmallIntegersTest, QuantizingLimits) {
  const Tensor x = Floats(
      {3, 4}, {0, 2.5f, 4.8f, 8.6f, -4, -3, 1, 2, 0, -2.5f, -4.8f, -8.6f});
  const Operator op{"QuantizeLinear", "", 25,
                    [](Node* n) { SetInt(n, "axis", 0); }};
  EXPECT_THAT(
      Outputs(op, {x, Floats({3}, {2, 3, 4}),
                   OfStorageType(SignedBytes({3}, {0, 0, 0}), kInt2)})[0]
          .values<int8_t>(),
      ElementsAre(0, 1, 1, 1, -1, -1, 0, 1, 0, -1, -1, -2));
  const Operator back{"DequantizeLinear", "", 25,
                      [](Node* n) { SetInt(n, "axis", 0); }};
  ExpectNear(
      RunFloats(back,
                {OfStorageType(SignedBytes({4}, {0, 1, -1, -2}), kInt2),
                 Floats({}, {2}), OfStorageType(SignedBytes({1}, {1}), kInt2)}),
      {-2, 0, -4, -6});
  ExpectNear(RunFloats(back, {OfStorageType(Bytes({5}, {0, 2, 10, 3, 14}),
                                            kFloat4E2M1),
                              Floats({}, {2})}),
             {0, 2, -2, 3, -8});
}

// Blocks of two with scales of an exponent alone: 2 and 1/2.
TEST(SmallFloatTest, ScalesOfAnExponentAlone) {
  const Operator op{"DequantizeLinear", "", 25, [](Node* n) {
                      SetInt(n, "axis", -1);
                      SetInt(n, "block_size", 2);
                      SetInt(n, "output_dtype", onnx::TensorProto::FLOAT);
                    }};
  const Operand scales = OfStorageType(Bytes({1, 2}, {128, 126}), kFloat8E8M0);
  ExpectNear(
      RunFloats(op, {OfStorageType(Bytes({1, 4}, {2, 3, 10, 7}), kFloat4E2M1),
                     scales}),
      {2, 3, -0.5f, 3});
  const Operator back{"QuantizeLinear", "", 25, [](Node* n) {
                        SetInt(n, "axis", -1);
                        SetInt(n, "block_size", 2);
                        SetInt(n, "output_dtype", kFloat4E2M1);
                      }};
  EXPECT_THAT(Outputs(back, {Floats({1, 4}, {2, 3, -0.5f, 3}), scales})[0]
                  .values<uint8_t>(),
              ElementsAre(2, 3, 10, 7));
}

// As many blocks as elements that only a run can count.
TEST(QuantizeTest, BlocksOfADimensionOfTheRun) {
  const Operator op{"DequantizeLinear", "", 21, [](Node* n) {
                      SetInt(n, "axis", 1);
                      SetInt(n, "block_size", 3);
                    }};
  const Operand x = Symbolic(SignedBytes({1, 7}, {1, 2, 3, 4, 5, 6, 7}));
  ExpectNear(RunFloats(op, {x, Constant(Floats({1, 3}, {1, 10, 100}))}),
             {1, 2, 3, 40, 50, 60, 700});
  EXPECT_FALSE(RunOperator(op, {x, Constant(Floats({1, 2}, {1, 10}))}).ok());
}

TEST(SmallIntegersTest, AreFilledAndPadded) {
  const Operator fill{"ConstantOfShape", "", 25, [](Node* n) {
                        auto* a = n->add_attribute();
                        a->set_name("value");
                        a->set_type(onnx::AttributeProto::TENSOR);
                        a->mutable_t()->set_data_type(kInt4);
                        a->mutable_t()->add_dims(1);
                        a->mutable_t()->set_raw_data("\x0d");
                      }};
  EXPECT_THAT(Outputs(fill, {Constant(Longs({1}, {3}))})[0].values<int8_t>(),
              ElementsAre(-3, -3, -3));
  EXPECT_THAT(
      Outputs({"Pad", "", 25}, {OfStorageType(SignedBytes({2}, {-2, 1}), kInt2),
                                Constant(Longs({2}, {1, 0}))})[0]
          .values<int8_t>(),
      ElementsAre(0, -2, 1));
}

TEST(ConstantOfShapeTest, OfBrainFloats) {
  const Operator fill{
      "ConstantOfShape", "", 21, [](Node* n) {
        auto* a = n->add_attribute();
        a->set_name("value");
        a->set_type(onnx::AttributeProto::TENSOR);
        a->mutable_t()->set_data_type(onnx::TensorProto::BFLOAT16);
        a->mutable_t()->add_dims(1);
        a->mutable_t()->set_raw_data("\x20\xc0");  // -2.5
      }};
  for (const bool constant : {true, false}) {
    EXPECT_THAT(Outputs(fill, {Operand(Longs({1}, {2}), constant)})[0]
                    .values<uint16_t>(),
                ElementsAre(0xc020, 0xc020));
  }
}

// Initialisers hold several elements to a byte, the first in the low bits.
TEST(SmallIntegersTest, InitialisersAreUnpacked) {
  onnx::TensorProto proto;
  proto.set_data_type(kInt4);
  proto.add_dims(3);
  proto.set_raw_data(std::string("\x2f\x08", 2));
  absl::StatusOr<Tensor> tensor = TensorFromProto(&proto);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(tensor->values<int8_t>(), ElementsAre(-1, 2, -8));
  proto.set_data_type(kUInt4);
  tensor = TensorFromProto(&proto);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(tensor->values<uint8_t>(), ElementsAre(15, 2, 8));
  proto.set_raw_data("\x2f");
  EXPECT_TRUE(absl::IsInvalidArgument(TensorFromProto(&proto).status()));
  // 0b00_01_10_11 and 0b10.
  proto.set_data_type(kInt2);
  proto.set_dims(0, 5);
  proto.set_raw_data("\x1b\x02");
  tensor = TensorFromProto(&proto);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(tensor->values<int8_t>(), ElementsAre(-1, -2, 1, 0, -2));
}

// ------------------------------------------------------------------------ text

Tensor Text(const std::vector<std::string>& strings) {
  return TextTensor({static_cast<int64_t>(strings.size())}, strings);
}

std::vector<std::string> CastToText(const Tensor& x) {
  absl::StatusOr<std::vector<Tensor>> out = RunOperator(Cast(kTextType), {x});
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  return StringsOf((*out)[0]);
}

TEST(TextTest, NumbersAreWrittenShort) {
  EXPECT_THAT(
      CastToText(Floats({14}, {0, -0.0f, 1, -2.5f, 120, 0.001f, 0.0001f,
                               0.00001f, 1e16f, 123456789012345680.0f, NAN,
                               INFINITY, -INFINITY, 3.4028235e38f})),
      ElementsAre("0.0", "-0.0", "1.0", "-2.5", "120.0", "0.001", "0.0001",
                  "1e-05", "1e+16", "1.2345679e+17", "nan", "inf", "-inf",
                  "3.4028235e+38"));
  EXPECT_THAT(CastToText(Longs(
                  {5}, {0, -7, 1234567890123456789, INT64_MAX, INT64_MIN})),
              ElementsAre("0", "-7", "1234567890123456789",
                          "9223372036854775807", "-9223372036854775808"));
}

// As short as the C++ library's shortest, and read back as the same number.
TEST(TextTest, NumbersAreReadBack) {
  std::vector<float> x;
  uint32_t seed = 1;
  while (x.size() < 300) {
    seed = seed * 1664525 + 1013904223;
    float v;
    std::memcpy(&v, &seed, sizeof(v));
    if (std::isfinite(v)) x.push_back(v);
  }
  const std::vector<std::string> text =
      CastToText(Floats({static_cast<int64_t>(x.size())}, x));
  ASSERT_EQ(text.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    char shortest[32];
    const auto end = std::to_chars(shortest, shortest + sizeof(shortest), x[i],
                                   std::chars_format::scientific);
    auto digits = [](absl::string_view s) {
      int n = 0;
      for (char c : s.substr(0, s.find('e'))) n += c >= '0' && c <= '9';
      return n;
    };
    EXPECT_EQ(std::strtof(text[i].c_str(), nullptr), x[i]) << text[i];
    // A point is always written, with a 0 after it if need be.
    if (text[i].find('e') != std::string::npos) {
      EXPECT_EQ(digits(text[i]),
                digits(absl::string_view(shortest, end.ptr - shortest)))
          << text[i];
    }
  }
  absl::StatusOr<std::vector<Tensor>> back = RunOperator(
      Cast(onnx::TensorProto::FLOAT), {OfStorageType(Text(text), kTextType)});
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT((*back)[0].values<float>(), ElementsAreArray(x));
}

TEST(TextTest, NumbersAreRead) {
  const std::vector<float> v = RunFloats(
      Cast(onnx::TensorProto::FLOAT),
      {OfStorageType(Text({"12", "-0.5", "+3.25e2", "1E-3", " 7 ", ".5", "INF",
                           "-inf", "1e400", "0.1234567890123456789012345"}),
                     kTextType)});
  EXPECT_THAT(v, ElementsAre(12, -0.5f, 325, 0.001f, 7, 0.5f, INFINITY,
                             -INFINITY, INFINITY, 0.12345679f));
  for (const char* s : {"NaN", "nonsense", "", "1.2.3", "4x"}) {
    EXPECT_TRUE(std::isnan(RunFloats(Cast(onnx::TensorProto::FLOAT),
                                     {OfStorageType(Text({s}), kTextType)})[0]))
        << s;
  }
  absl::StatusOr<std::vector<Tensor>> whole = RunOperator(
      Cast(onnx::TensorProto::INT64),
      {OfStorageType(Text({"9007199254740993", "-12", "2.9"}), kTextType)});
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_THAT((*whole)[0].values<int64_t>(),
              ElementsAre(9007199254740993, -12, 2));
}

}  // namespace
}  // namespace ingot::onnx_frontend
