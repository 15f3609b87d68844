// Results of single instructions.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "isa/testing/ptx/run_text.h"

namespace ingot::isa::ptx {
namespace {

// Runs a body that begins with the two words %r1 and %r2 of the input, or %d1
// of both, and leaves its result in %r3 or in %d3.
uint32_t WordOf(const std::string& body, uint32_t a, uint32_t b = 0) {
  return WordsOf("ld.global.v2.u32 {%r1, %r2}, [%in];\n" + body +
                     "\nst.global.u32 [%out], %r3;",
                 1, {a, b})[0];
}
uint64_t DoubleWordOf(const std::string& body, uint64_t a) {
  const std::vector<uint32_t> out = WordsOf(
      "ld.global.u64 %d1, [%in];\n" + body + "\nst.global.u64 [%out], %d3;", 1,
      {static_cast<uint32_t>(a), static_cast<uint32_t>(a >> 32)}, 2);
  return uint64_t{out[1]} << 32 | out[0];
}

uint32_t Bits(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}
float FloatOf(uint32_t bits) {
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}
uint64_t Bits(double number) {
  uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

// An instruction of floats: "add.rn.f32" of %f1 and %f2, to %f3.
float OfFloats(const std::string& opcode, float a, float b) {
  return FloatOf(WordOf("mov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\n" + opcode +
                            " %f3, %f1, %f2;\nmov.b32 %r3, %f3;",
                        Bits(a), Bits(b)));
}
float OfFloat(const std::string& opcode, float a) {
  return FloatOf(
      WordOf("mov.b32 %f1, %r1;\n" + opcode + " %f3, %f1;\nmov.b32 %r3, %f3;",
             Bits(a)));
}

TEST(PtxInstructions, OfIntegersWrapAround) {
  EXPECT_EQ(WordOf("add.s32 %r3, %r1, %r2;", 0x7fffffff, 1), 0x80000000);
  EXPECT_EQ(WordOf("sub.s32 %r3, %r1, %r2;", 3, 5), -2u);
  EXPECT_EQ(WordOf("mul.lo.s32 %r3, %r1, %r2;", 0x10001, 0x10001), 0x20001u);
  EXPECT_EQ(WordOf("mul.hi.u32 %r3, %r1, %r2;", ~0u, ~0u), ~1u);
  EXPECT_EQ(WordOf("mul.hi.s32 %r3, %r1, %r2;", -5, 7), ~0u);
  EXPECT_EQ(WordOf("mad.lo.s32 %r3, %r1, %r2, -1;", 6, 7), 41u);
  EXPECT_EQ(WordOf("neg.s32 %r3, %r1;", 7), -7u);
  EXPECT_EQ(WordOf("abs.s32 %r3, %r1;", -7), 7u);
  EXPECT_EQ(DoubleWordOf("mul.hi.u64 %d3, %d1, 3;", uint64_t{1} << 63), 1u);
  EXPECT_EQ(DoubleWordOf("mul.lo.s64 %d3, %d1, -3;", 5), uint64_t(-15));
  EXPECT_EQ(WordOf("mul.wide.s32 %d3, %r1, %r2;\nshr.u64 %d3, %d3, 32;\n"
                   "cvt.u32.u64 %r3, %d3;",
                   -1, 5),
            ~0u);
}

TEST(PtxInstructions, DivideIntegers) {
  EXPECT_EQ(WordOf("div.s32 %r3, %r1, %r2;", -7, 2), -3u);
  EXPECT_EQ(WordOf("rem.s32 %r3, %r1, %r2;", -7, 2), -1u);
  EXPECT_EQ(WordOf("div.u32 %r3, %r1, %r2;", -7, 2), 0x7ffffffcu);
  EXPECT_EQ(WordOf("div.s32 %r3, %r1, %r2;", 0x80000000, -1), 0x80000000);
  EXPECT_EQ(WordOf("div.u32 %r3, %r1, %r2;", 7, 0), ~0u);
}

TEST(PtxInstructions, TellSignedNumbersFromOthers) {
  EXPECT_EQ(WordOf("min.s32 %r3, %r1, %r2;", -1, 1), -1u);
  EXPECT_EQ(WordOf("min.u32 %r3, %r1, %r2;", -1, 1), 1u);
  const std::string select = "\nselp.b32 %r3, 1, 0, %p1;";
  EXPECT_EQ(WordOf("setp.lt.s32 %p1, %r1, %r2;" + select, -1, 1), 1u);
  EXPECT_EQ(WordOf("setp.lt.u32 %p1, %r1, %r2;" + select, -1, 1), 0u);
  EXPECT_EQ(WordOf("shr.s32 %r3, %r1, %r2;", -8, 1), -4u);
  EXPECT_EQ(WordOf("shr.u32 %r3, %r1, %r2;", -8, 1), 0x7ffffffcu);
  EXPECT_EQ(WordOf("shr.s32 %r3, %r1, %r2;", -8, 99), ~0u);
  EXPECT_EQ(WordOf("shl.b32 %r3, %r1, %r2;", 1, 32), 0u);
}

TEST(PtxInstructions, TakeBits) {
  EXPECT_EQ(WordOf("bfe.u32 %r3, %r1, 4, 8;", 0x12345678), 0x67u);
  EXPECT_EQ(WordOf("bfe.s32 %r3, %r1, 4, 3;", 0x78), ~0u);
  EXPECT_EQ(DoubleWordOf("bfe.u64 %d3, %d1, 40, 8;", 0x1122334455667788),
            0x33u);
  EXPECT_EQ(WordOf("bfi.b32 %r3, %r1, %r2, 8, 4;", 0xff, 0), 0xf00u);
  EXPECT_EQ(WordOf("prmt.b32 %r3, %r1, %r2, 0x7610;", 0x33221100, 0x77665544),
            0x77661100u);
  EXPECT_EQ(WordOf("prmt.b32 %r3, %r1, %r2, 0x8888;", 0x80, 0), ~0u);
  EXPECT_EQ(WordOf("shf.l.wrap.b32 %r3, %r1, %r2, 8;", 0xaabbccdd, 0x11223344),
            0x223344aau);
  EXPECT_EQ(WordOf("shf.r.wrap.b32 %r3, %r1, %r2, 8;", 0xaabbccdd, 0x11223344),
            0x44aabbccu);
  EXPECT_EQ(WordOf("popc.b32 %r3, %r1;", 0xf0f), 8u);
  EXPECT_EQ(WordOf("clz.b32 %r3, %r1;", 0xf0f), 20u);
  EXPECT_EQ(WordOf("brev.b32 %r3, %r1;", 1), 0x80000000);
  EXPECT_EQ(WordOf("dp4a.s32.s32 %r3, %r1, %r2, 100;", 0xff020304, 0x01010102),
            100u - 1 + 2 + 3 + 8);
}

TEST(PtxInstructions, JoinAndSplitRegisters) {
  EXPECT_EQ(WordOf("mov.b64 %d1, {%r1, %r2};\nshr.u64 %d1, %d1, 16;\n"
                   "mov.b64 {%r3, %r4}, %d1;",
                   0x55667788, 0x11223344),
            0x33445566u);
  EXPECT_EQ(
      WordOf("mov.b32 {%s1, %s2}, %r1;\nmov.b32 %r3, {%s2, %s1};", 0x11112222),
      0x22221111u);
}

TEST(PtxInstructions, OfFloatsAreRoundedOnce) {
  EXPECT_EQ(OfFloats("add.rn.f32", 1.0f, 0x1p-24f), 1.0f);
  EXPECT_EQ(OfFloats("div.rn.f32", 1.0f, 3.0f), 1.0f / 3.0f);
  EXPECT_EQ(OfFloat("sqrt.rn.f32", 2.0f), std::sqrt(2.0f));
  EXPECT_EQ(OfFloat("rcp.rn.f32", 3.0f), 1.0f / 3.0f);
  EXPECT_FLOAT_EQ(OfFloat("ex2.approx.f32", 0.5f), std::sqrt(2.0f));
  EXPECT_FLOAT_EQ(OfFloat("lg2.approx.f32", 8.0f), 3.0f);
  EXPECT_FLOAT_EQ(OfFloat("rsqrt.approx.f32", 4.0f), 0.5f);
  EXPECT_FLOAT_EQ(OfFloat("sin.approx.f32", 1.0f), std::sin(1.0f));
  // (1 + e)^2 - 1 - 2e is e^2 only where the product is not rounded.
  EXPECT_EQ(FloatOf(WordOf("mov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\n"
                           "fma.rn.f32 %f3, %f1, %f1, %f2;\n"
                           "mov.b32 %r3, %f3;",
                           Bits(1 + 0x1p-20f), Bits(-1 - 0x1p-19f))),
            0x1p-40f);
}

TEST(PtxInstructions, DropNans) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(OfFloats("max.f32", nan, 1.0f), 1.0f);
  EXPECT_EQ(OfFloats("min.f32", 1.0f, nan), 1.0f);
  EXPECT_TRUE(std::isnan(OfFloats("max.NaN.f32", nan, 1.0f)));
  EXPECT_TRUE(std::signbit(OfFloats("min.f32", 0.0f, -0.0f)));
  EXPECT_EQ(OfFloat("neg.f32", 2.0f), -2.0f);
  EXPECT_EQ(OfFloat("abs.f32", -2.0f), 2.0f);
}

// Each comparison, of less, equal, greater and unordered numbers.
TEST(PtxInstructions, CompareFloats) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const struct {
    const char* name;
    uint32_t less, equal, greater, unordered;
  } kCases[] = {{"lt", 1, 0, 0, 0},  {"le", 1, 1, 0, 0},  {"eq", 0, 1, 0, 0},
                {"ne", 1, 0, 1, 0},  {"gt", 0, 0, 1, 0},  {"ge", 0, 1, 1, 0},
                {"num", 1, 1, 1, 0}, {"nan", 0, 0, 0, 1}, {"ltu", 1, 0, 0, 1},
                {"leu", 1, 1, 0, 1}, {"equ", 0, 1, 0, 1}, {"neu", 1, 0, 1, 1},
                {"gtu", 0, 0, 1, 1}, {"geu", 0, 1, 1, 1}};
  for (const auto& c : kCases) {
    const auto result = [&](float a, float b) {
      return WordOf("mov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\nsetp." +
                        std::string(c.name) +
                        ".f32 %p1, %f1, %f2;\nselp.u32 %r3, 1, 0, %p1;",
                    Bits(a), Bits(b));
    };
    EXPECT_EQ(result(1, 2), c.less) << c.name;
    EXPECT_EQ(result(2, 2), c.equal) << c.name;
    EXPECT_EQ(result(2, 1), c.greater) << c.name;
    EXPECT_EQ(result(nan, 1), c.unordered) << c.name;
  }
}

// The lower numbers' predicate comes first.
TEST(PtxInstructions, ComparePairs) {
  const auto result = [](uint32_t a, uint32_t b) {
    return WordOf(
        "setp.lt.f16x2 %p1|%p2, %r1, %r2;\nselp.u32 %r3, 1, 0, %p1;\n"
        "@%p2 add.u32 %r3, %r3, 2;",
        a, b);
  };
  EXPECT_EQ(result(0x3c004000, 0x40003c00), 2u);  // 2 < 1, 1 < 2
  EXPECT_EQ(result(0x40003c00, 0x3c004000), 1u);
  EXPECT_EQ(result(0x3c003c00, 0x40004000), 3u);
}

TEST(PtxInstructions, OfHalvesAreRounded) {
  const auto of = [](const std::string& opcode, uint32_t a, uint32_t b) {
    return WordOf("cvt.u16.u32 %s1, %r1;\ncvt.u16.u32 %s2, %r2;\n" + opcode +
                      " %s3, %s1, %s2;\ncvt.u32.u16 %r3, %s3;",
                  a, b);
  };
  EXPECT_EQ(of("add.rn.f16", 0x3c00, 0x4000), 0x4200u);   // 1 + 2
  EXPECT_EQ(of("mul.rn.f16", 0x3e00, 0x3e00), 0x4080u);   // 1.5 * 1.5
  EXPECT_EQ(of("add.rn.f16", 0x7bff, 0x7bff), 0x7c00u);   // beyond 65504
  EXPECT_EQ(of("add.rn.bf16", 0x3f80, 0x4000), 0x4040u);  // 1 + 2
  EXPECT_EQ(WordOf("fma.rn.f16x2 %r3, %r1, %r2, %r2;", 0x3c004000, 0x3c003c00),
            0x40004200u);  // 1 * 1 + 1, 2 * 1 + 1
}

TEST(PtxInstructions, ConvertFloatsToIntegers) {
  const auto of = [](const std::string& opcode, float a) {
    return WordOf("mov.b32 %f1, %r1;\n" + opcode + " %r3, %f1;", Bits(a));
  };
  EXPECT_EQ(of("cvt.rzi.s32.f32", -2.7f), -2u);
  EXPECT_EQ(of("cvt.rni.s32.f32", 2.5f), 2u);
  EXPECT_EQ(of("cvt.rmi.s32.f32", -2.5f), -3u);
  EXPECT_EQ(of("cvt.rpi.s32.f32", 2.2f), 3u);
  EXPECT_EQ(of("cvt.rzi.s32.f32", 1e10f), 0x7fffffffu);
  EXPECT_EQ(of("cvt.rzi.s32.f32", -1e10f), 0x80000000u);
  EXPECT_EQ(of("cvt.rzi.u32.f32", -1.0f), 0u);
  EXPECT_EQ(of("cvt.rzi.u32.f32", 1e10f), ~0u);
  EXPECT_EQ(of("cvt.rzi.s32.f32", std::nanf("")), 0u);
  EXPECT_EQ(DoubleWordOf("mov.b64 %g1, %d1;\ncvt.rzi.s64.f64 %d3, %g1;",
                         Bits(std::nan(""))),
            uint64_t{1} << 63);
  EXPECT_EQ(DoubleWordOf("mov.b64 %g1, %d1;\ncvt.rzi.s64.f64 %d3, %g1;",
                         Bits(-5e12 - 0.5)),
            uint64_t(-5000000000000));
}

TEST(PtxInstructions, ConvertIntegers) {
  EXPECT_EQ(WordOf("cvt.u16.u32 %s1, %r1;\ncvt.s16.s8 %s2, %s1;\n"
                   "cvt.s32.s16 %r3, %s2;",
                   0x1280),
            0xffffff80u);
  EXPECT_EQ(WordOf("cvt.u16.u32 %s1, %r1;\ncvt.u16.u8 %s2, %s1;\n"
                   "cvt.u32.u16 %r3, %s2;",
                   0x1280),
            0x80u);
  EXPECT_EQ(WordOf("cvt.sat.s8.s32 %r3, %r1;", 1000), 127u);
  EXPECT_EQ(WordOf("cvt.sat.s8.s32 %r3, %r1;", -1000), -128u);
  EXPECT_EQ(WordOf("cvt.sat.u8.s32 %r3, %r1;", -1000), 0u);
  EXPECT_EQ(WordOf("cvt.rn.f32.u32 %f1, %r1;\nmov.b32 %r3, %f1;", ~0u),
            Bits(0x1p32f));
  EXPECT_EQ(WordOf("cvt.rn.f32.s32 %f1, %r1;\nmov.b32 %r3, %f1;", -3),
            Bits(-3.0f));
}

TEST(PtxInstructions, ConvertBetweenFloats) {
  const auto narrow = [](const std::string& opcode, float a) {
    return WordOf(
        "mov.b32 %f1, %r1;\n" + opcode + " %s1, %f1;\ncvt.u32.u16 %r3, %s1;",
        Bits(a));
  };
  EXPECT_EQ(narrow("cvt.rn.f16.f32", 1.0f), 0x3c00u);
  EXPECT_EQ(narrow("cvt.rn.f16.f32", 1 + 0x1p-11f), 0x3c00u);  // a tie
  EXPECT_EQ(narrow("cvt.rn.f16.f32", 1 + 0x1.8p-10f), 0x3c02u);
  EXPECT_EQ(narrow("cvt.rz.f16.f32", 1 + 0x1.8p-10f), 0x3c01u);
  EXPECT_EQ(narrow("cvt.rn.f16.f32", 65520.0f), 0x7c00u);
  EXPECT_EQ(narrow("cvt.rz.f16.f32", 65520.0f), 0x7bffu);
  EXPECT_EQ(narrow("cvt.rn.f16.f32", 0x1p-24f), 1u);  // the least
  EXPECT_EQ(narrow("cvt.rn.f16.f32", 0x1p-25f), 0u);
  EXPECT_EQ(narrow("cvt.rn.bf16.f32", 1 + 0x1.8p-7f), 0x3f82u);
  EXPECT_EQ(narrow("cvt.rn.bf16.f32", -2.0f), 0xc000u);
  EXPECT_EQ(WordOf("mov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\n"
                   "cvt.rn.f16x2.f32 %r3, %f1, %f2;",
                   Bits(1.0f), Bits(2.0f)),
            0x3c004000u);
  // Halves of tf32's last place go away from 0.
  const auto tf32 = [](float a) {
    return WordOf("mov.b32 %f1, %r1;\ncvt.rna.tf32.f32 %r3, %f1;", Bits(a));
  };
  EXPECT_EQ(tf32(1 + 0x1p-11f), Bits(1 + 0x1p-10f));
  EXPECT_EQ(tf32(1 + 0x1p-12f), Bits(1.0f));
  EXPECT_EQ(OfFloat("cvt.rni.f32.f32", -2.5f), -2.0f);
  EXPECT_EQ(OfFloat("cvt.sat.f32.f32", 2.5f), 1.0f);
  EXPECT_EQ(DoubleWordOf("mov.b64 %g1, %d1;\ncvt.rn.f32.f64 %f1, %g1;\n"
                         "cvt.f64.f32 %g2, %f1;\nmov.b64 %d3, %g2;",
                         Bits(1 + 0x1p-24)),
            Bits(1.0));
}

// Half numbers keep their values, subnormal ones and infinities too.
TEST(PtxInstructions, WidenHalves) {
  const auto widened = [](uint32_t half) {
    return FloatOf(
        WordOf("cvt.u16.u32 %s1, %r1;\ncvt.f32.f16 %f1, %s1;\n"
               "mov.b32 %r3, %f1;",
               half));
  };
  EXPECT_EQ(widened(0x3c00), 1.0f);
  EXPECT_EQ(widened(0x8001), -0x1p-24f);
  EXPECT_EQ(widened(0x03ff), 0x3ffp-24f);
  EXPECT_EQ(widened(0x0400), 0x1p-14f);
  EXPECT_EQ(widened(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(widened(0x7e00)));
}

TEST(PtxInstructions, StoreTheLowBytes) {
  EXPECT_EQ(WordOf("mov.u32 %r4, 0;\nst.global.u32 [%out], %r4;\n"
                   "st.global.u8 [%out+1], %r1;\nst.global.u16 [%out+2], 5;\n"
                   "ld.global.u32 %r3, [%out];",
                   0x1234),
            0x00053400u);
  EXPECT_EQ(WordOf("ld.global.s8 %r3, [%in];", 0x80), -128u);
  EXPECT_EQ(WordOf("ld.global.u8 %s1, [%in];\ncvt.u32.u16 %r3, %s1;", 0x1280),
            0x80u);
}

}  // namespace
}  // namespace ingot::isa::ptx
