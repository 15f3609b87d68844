// Products of small matrices by a warp, against loops over their elements.
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/testing/ptx/numbers.h"
#include "isa/testing/ptx/run_text.h"

namespace ingot::isa::ptx {
namespace {

using ::testing::HasSubstr;

constexpr int kRows = 16;
constexpr int kColumns = 8;

// Row by row.
using Matrix = std::vector<float>;

// Whole numbers so small that sums are exact in all types.
Matrix RandomMatrix(int rows, int columns, int seed) {
  std::mt19937 random(seed);
  Matrix matrix(rows * columns);
  for (float& number : matrix) number = static_cast<int>(random() % 17) - 8;
  return matrix;
}

uint32_t Bits(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

// The word of one, two or four neighbours, `step` elements apart.
using Encode = std::function<uint32_t(const float* first, int step)>;
uint32_t AsHalves(const float* first, int step) {
  return Narrow<Half>(first[0]).bits | uint32_t{Narrow<Half>(first[step]).bits}
                                           << 16;
}
uint32_t AsBfloats(const float* first, int step) {
  return Narrow<Bfloat>(first[0]).bits |
         uint32_t{Narrow<Bfloat>(first[step]).bits} << 16;
}
// With bits below the 19 that count.
uint32_t AsTf32(const float* first, int) { return Bits(*first) | 0x1fff; }
uint32_t AsBytes(const float* first, int step) {
  uint32_t word = 0;
  for (int k = 0; k < 4; ++k) {
    word |= (static_cast<uint32_t>(static_cast<int>(first[k * step])) & 0xff)
            << (8 * k);
  }
  return word;
}

enum class Sums { kFloats, kHalves, kWords };

struct Case {
  const char* types;
  int depth;
  int in_word;
  Encode encode;
  Sums sums;
};

// The words of A, B and C that each thread has, as the manual's tables tell row
// and column of each: group is lane / 4, and member lane % 4.
std::vector<uint32_t> FragmentsOf(const Case& c, int lane, const Matrix& a,
                                  const Matrix& b, const Matrix& sums) {
  const int group = lane / 4;
  const int member = lane % 4;
  std::vector<uint32_t> words;
  const int step = 4 * c.in_word;  // columns of A that four members have
  for (int first = member * c.in_word; first < c.depth; first += step) {
    for (const int row : {group, group + 8}) {
      const float* const at = &a[row * c.depth + first];
      words.push_back(c.encode(at, 1));
    }
  }
  for (int first = member * c.in_word; first < c.depth; first += step) {
    const float* const at = &b[first * kColumns + group];
    words.push_back(c.encode(at, kColumns));
  }
  for (const int row : {group, group + 8}) {
    const float* const at = &sums[row * kColumns + 2 * member];
    if (c.sums == Sums::kHalves) {
      words.push_back(AsHalves(at, 1));
    } else {
      for (const float number : {at[0], at[1]}) {
        words.push_back(c.sums == Sums::kWords
                            ? static_cast<uint32_t>(static_cast<int>(number))
                            : Bits(number));
      }
    }
  }
  return words;
}

std::string Registers(int first, int count) {
  std::string text;
  for (int k = 0; k < count; ++k) {
    text += (k == 0 ? "%r" : ", %r") + std::to_string(first + k);
  }
  return "{" + text + "}";
}

// Loads `words` words of each thread into %r4 and so on, runs the product, and
// stores its words.
std::string BodyOf(const Case& c, int words) {
  const int sums = c.sums == Sums::kHalves ? 2 : 4;
  const int a = c.depth / c.in_word / 2;
  const int b = a / 2;
  std::string text = "mul.wide.u32 %d1, %t, " + std::to_string(4 * words) +
                     ";\nadd.s64 %in, %in, %d1;\n";
  for (int k = 0; k < words; ++k) {
    text += "ld.global.u32 %r" + std::to_string(4 + k) + ", [%in+" +
            std::to_string(4 * k) + "];\n";
  }
  text += "mma.sync.aligned.m16n8k" + std::to_string(c.depth) + ".row.col." +
          c.types + "\n\t\t" + Registers(20, sums) + ",\n\t\t" +
          Registers(4, a) + ",\n\t\t" + Registers(4 + a, b) + ",\n\t\t" +
          Registers(4 + a + b, sums) + ";\n";
  return text + "st.global.v" + std::to_string(sums) + ".u32 [%out], " +
         Registers(20, sums) + ";";
}

TEST(PtxMatrices, AreMultiplied) {
  const Case kCases[] = {
      {"f32.f16.f16.f32", 16, 2, AsHalves, Sums::kFloats},
      {"f32.f16.f16.f32", 8, 2, AsHalves, Sums::kFloats},
      {"f32.bf16.bf16.f32", 16, 2, AsBfloats, Sums::kFloats},
      {"f32.bf16.bf16.f32", 8, 2, AsBfloats, Sums::kFloats},
      {"f32.tf32.tf32.f32", 8, 1, AsTf32, Sums::kFloats},
      {"f32.tf32.tf32.f32", 4, 1, AsTf32, Sums::kFloats},
      {"s32.s8.s8.s32", 32, 4, AsBytes, Sums::kWords},
      {"s32.s8.s8.s32", 16, 4, AsBytes, Sums::kWords},
      {"f16.f16.f16.f16", 16, 2, AsHalves, Sums::kHalves},
      {"f16.f16.f16.f16", 8, 2, AsHalves, Sums::kHalves},
  };
  for (const Case& c : kCases) {
    const Matrix a = RandomMatrix(kRows, c.depth, 1);
    const Matrix b = RandomMatrix(c.depth, kColumns, 2);
    const Matrix sums = RandomMatrix(kRows, kColumns, 3);
    std::vector<uint32_t> in;
    for (int lane = 0; lane < 32; ++lane) {
      const auto words = FragmentsOf(c, lane, a, b, sums);
      in.insert(in.end(), words.begin(), words.end());
    }
    const int words_out = c.sums == Sums::kHalves ? 2 : 4;
    const std::vector<uint32_t> out =
        WordsOf(BodyOf(c, static_cast<int>(in.size() / 32)), 32, in, words_out);
    Matrix expected = sums;
    for (int i = 0; i < kRows * kColumns; ++i) {
      for (int k = 0; k < c.depth; ++k) {
        expected[i] +=
            a[i / kColumns * c.depth + k] * b[k * kColumns + i % kColumns];
      }
    }
    for (int lane = 0; lane < 32; ++lane) {
      // The product's sums are laid out as those that it began with.
      const auto words = FragmentsOf(c, lane, a, b, expected);
      for (int k = 0; k < words_out; ++k) {
        EXPECT_EQ(out[lane * words_out + k],
                  words[words.size() - words_out + k])
            << c.types << " " << c.depth << ", lane " << lane << ", word " << k;
      }
    }
  }
}

constexpr char kTile[] = R"(
  .shared .align 16 .b8 tile[512];
  mul.wide.u32 %d1, %t, 16;
  add.s64 %in, %in, %d1;
  ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%in];
  mov.u64 %d2, tile;
  add.s64 %d2, %d2, %d1;
  st.shared.v4.u32 [%d2], {%r1, %r2, %r3, %r4};
  bar.warp.sync -1;
)";

// Row r of matrix m has the numbers 100 m + 10 r + column.
std::vector<uint32_t> FourMatrices() {
  std::vector<uint32_t> words;
  for (uint32_t row = 0; row < 32; ++row) {
    const uint32_t first = row / 8 * 100 + row % 8 * 10;
    for (uint32_t k = 0; k < 4; ++k) {
      words.push_back((first + 2 * k) | (first + 2 * k + 1) << 16);
    }
  }
  return words;
}

TEST(PtxMatrices, AreLoadedFromSharedMemory) {
  const std::vector<uint32_t> out = WordsOf(kTile + std::string(R"(
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%d2];
  st.global.v4.u32 [%out], {%r5, %r6, %r7, %r8};)"),
                                            32, FourMatrices(), 4);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t m = 0; m < 4; ++m) {
      const uint32_t first = 100 * m + lane / 4 * 10 + lane % 4 * 2;
      EXPECT_EQ(out[4 * lane + m], first | (first + 1) << 16);
    }
  }
}

TEST(PtxMatrices, AreTransposedWhenLoaded) {
  const std::vector<uint32_t> out = WordsOf(kTile + std::string(R"(
  ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r5, %r6}, [%d2];
  st.global.v2.u32 [%out], {%r5, %r6};)"),
                                            32, FourMatrices(), 2);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t m = 0; m < 2; ++m) {
      const uint32_t first = 100 * m + lane % 4 * 20 + lane / 4;
      EXPECT_EQ(out[2 * lane + m], first | (first + 10) << 16);
    }
  }
}

TEST(PtxMatrices, AreTheWholeWarps) {
  const std::string load =
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%d2];";
  const std::vector<uint32_t> in = FourMatrices();
  EXPECT_EQ(FailureOf(kTile + load, 32, in).code, 0);
  const Failure part =
      FailureOf(kTile + ("setp.lt.u32 %p0, %t, 8;\n@%p0 " + load), 32, in);
  EXPECT_EQ(part.code, kIllegalInstruction);
  EXPECT_THAT(part.text, HasSubstr("not that of the whole warp"));
  const Failure ended = FailureOf(
      kTile + ("setp.lt.u32 %p0, %t, 8;\n@%p0 ret;\n" + load), 32, in);
  EXPECT_EQ(ended.code, kIllegalInstruction);
  EXPECT_THAT(ended.text, HasSubstr("ended without it"));
  // A block of 16 threads has no whole warp.
  const Failure few = FailureOf(kTile + load, 16, in);
  EXPECT_EQ(few.code, kIllegalInstruction);
  EXPECT_THAT(few.text, HasSubstr("less than 32 threads"));
  const Failure misaligned =
      FailureOf(kTile + std::string("add.s64 %d2, %d2, 8;\n") + load, 32, in);
  EXPECT_EQ(misaligned.code, kMisaligned);
}

}  // namespace
}  // namespace ingot::isa::ptx
