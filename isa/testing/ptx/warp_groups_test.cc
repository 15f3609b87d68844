// Products by four warps, against loops over the elements of their operands.
#include <cstdint>
#include <cstring>
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

constexpr int kRows = 64, kColumns = 16, kDepth = 16, kThreads = 128;

// Whole numbers so small that sums are exact.
std::vector<float> RandomMatrix(int rows, int seed, int depth = kDepth) {
  std::mt19937 random(seed);
  std::vector<float> matrix(rows * depth);
  for (float& number : matrix) number = static_cast<int>(random() % 17) - 8;
  return matrix;
}

// As the manual draws operands without swizzling: parts of 8 x 8 elements have
// 128 bytes, the next terms' part is `along_terms` bytes later, and that of the
// next rows `along_rows`.
void Place(const std::vector<float>& matrix, bool terms_are_lines,
           size_t along_terms, size_t along_rows, size_t start,
           std::vector<uint32_t>* words) {
  for (size_t row = 0; row < matrix.size() / kDepth; ++row) {
    for (size_t k = 0; k < kDepth; ++k) {
      const size_t line = terms_are_lines ? k % 8 : row % 8;
      const size_t in_line = terms_are_lines ? row % 8 : k % 8;
      const size_t byte = start + k / 8 * along_terms + row / 8 * along_rows +
                          line * 16 + in_line * 2;
      const uint32_t bits = Narrow<Half>(matrix[row * kDepth + k]).bits;
      words->at(byte / 4) |= bits << (byte % 4 * 8);
    }
  }
}

struct Case {
  bool a_lines_are_terms, b_lines_are_terms;
};

constexpr size_t kAlongTermsOfA = 8 * 128 + 16, kAlongRowsOfA = 128;
constexpr size_t kAlongTermsOfB = 128, kAlongRowsOfB = 2 * 128 + 16;
constexpr size_t kStartOfB = 2 * kAlongTermsOfA;
constexpr size_t kBytes = kStartOfB + 2 * kAlongRowsOfB;
constexpr size_t kWords = kBytes / 4;

uint64_t DescriptorOf(size_t start, size_t along_terms, size_t along_rows) {
  return start / 16 | along_terms / 16 << 16 | along_rows / 16 << 32;
}

std::vector<uint32_t> Operands(const Case& c, const std::vector<float>& a,
                               const std::vector<float>& b) {
  std::vector<uint32_t> words(kWords);
  Place(a, c.a_lines_are_terms, kAlongTermsOfA, kAlongRowsOfA, 0, &words);
  Place(b, c.b_lines_are_terms, kAlongTermsOfB, kAlongRowsOfB, kStartOfB,
        &words);
  return words;
}

// Copies words to shared memory.
std::string CopyIn(size_t words) {
  return R"(
  .shared .align 1024 .b8 operands[)" +
         std::to_string(4 * words) + R"(];
  mov.u64 %d4, operands;
  mov.u32 %r1, %t;
  copy:
  setp.ge.u32 %p1, %r1, )" +
         std::to_string(words) + R"(;
  @%p1 bra copied;
  mul.wide.u32 %d1, %r1, 4;
  add.s64 %d2, %in, %d1;
  ld.global.u32 %r2, [%d2];
  add.s64 %d3, %d4, %d1;
  st.shared.u32 [%d3], %r2;
  add.s32 %r1, %r1, 128;
  bra copy;
  copied:
  setp.eq.u32 %p2, 0, 0;
)";
}

// Copies the operands, and makes each sum 1.
std::string Beginning() {
  return CopyIn(kWords) + R"(
  mov.u32 %r20, 0f3F800000;
  mov.u32 %r21, %r20; mov.u32 %r22, %r20; mov.u32 %r23, %r20;
  mov.u32 %r24, %r20; mov.u32 %r25, %r20; mov.u32 %r26, %r20;
  mov.u32 %r27, %r20;
  mov.u64 %d5, )" +
         std::to_string(DescriptorOf(0, kAlongTermsOfA, kAlongRowsOfA)) +
         R"(;
  mov.u64 %d6, )" +
         std::to_string(
             DescriptorOf(kStartOfB, kAlongTermsOfB, kAlongRowsOfB)) +
         ";\n";
}

std::string Multiplication(const Case& c) {
  return "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
         "{%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, %d5, %d6, "
         "%p2, 1, 1, " +
         std::to_string(c.a_lines_are_terms) + ", " +
         std::to_string(c.b_lines_are_terms) + ";\n";
}

constexpr char kFenced[] = "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
constexpr char kBegin[] = "wgmma.fence.sync.aligned;\n";
constexpr char kCommit[] = "wgmma.commit_group.sync.aligned;\n";
constexpr char kWait[] = "wgmma.wait_group.sync.aligned 0;\n";
constexpr char kEnd[] = R"(
  st.global.v4.u32 [%out], {%r20, %r21, %r22, %r23};
  st.global.v4.u32 [%out+16], {%r24, %r25, %r26, %r27};)";

TEST(PtxWarpGroups, Multiply) {
  const std::vector<float> a = RandomMatrix(kRows, 1),
                           b = RandomMatrix(kColumns, 2);
  for (const Case& c : {Case{false, false}, Case{false, true},
                        Case{true, false}, Case{true, true}}) {
    // Twice, in one group and in the next.
    const std::string body =
        Beginning() + kFenced + kBegin + Multiplication(c) + Multiplication(c) +
        kCommit + Multiplication(c) + kCommit +
        "wgmma.wait_group.sync.aligned 1;\n" + kWait + kEnd;
    const std::vector<uint32_t> out =
        WordsOf(body, kThreads, Operands(c, a, b), 8);
    for (int thread = 0; thread < kThreads; ++thread) {
      for (int k = 0; k < 8; ++k) {
        // The manual's figure of the accumulator's fragments.
        const int row =
            thread / 32 * 16 + thread % 32 / 4 + (k % 4 >= 2 ? 8 : 0);
        const int column = k / 4 * 8 + thread % 4 * 2 + k % 2;
        float expected = 1;
        for (int d = 0; d < kDepth; ++d) {
          expected += 3 * a[row * kDepth + d] * b[column * kDepth + d];
        }
        float found;
        std::memcpy(&found, &out[thread * 8 + k], sizeof found);
        ASSERT_EQ(found, expected) << thread << " " << k;
      }
    }
  }
}

std::string FailureText(const std::string& body) {
  const Case c{false, true};
  const Failure failure =
      FailureOf(Beginning() + body, kThreads,
                Operands(c, RandomMatrix(kRows, 1), RandomMatrix(kColumns, 2)));
  EXPECT_NE(failure.code, 0);
  return failure.text;
}

TEST(PtxWarpGroups, AreOrdered) {
  const std::string multiply = Multiplication({false, true});
  EXPECT_THAT(FailureText(std::string("bar.sync 0;\n") + kBegin + multiply +
                          kCommit + kWait),
              HasSubstr("and no fence.proxy.async"));
  EXPECT_THAT(FailureText(kFenced + multiply + kCommit + kWait),
              HasSubstr("no wgmma.fence is before it"));
  // Shared memory is written while units read it.
  EXPECT_THAT(FailureText(std::string(kFenced) + kBegin + multiply + kCommit +
                          "bar.sync 0;\nst.shared.u32 [%d4], %r1;\n" + kWait),
              HasSubstr("of shared memory"));
  // Sums are used before they are there.
  EXPECT_THAT(FailureText(std::string(kFenced) + kBegin + multiply + kCommit +
                          "mov.u32 %r20, 0;\n" + kWait),
              HasSubstr("used before they were waited for"));
  EXPECT_THAT(
      FailureText(std::string(kFenced) + kBegin + multiply + kWait + kBegin +
                  "setp.lt.u32 %p3, %t, 32;\n@%p3 add.s64 %d5, %d5, 1;\n" +
                  multiply + kCommit + kWait),
      HasSubstr("warps describe other operands"));
  EXPECT_THAT(FailureText(std::string(kFenced) + kBegin +
                          "setp.eq.u32 %p3, %t, 0;\n"
                          "@%p3 add.s64 %d5, %d5, 1;\n" +
                          multiply + kCommit + kWait),
              HasSubstr("threads describe other operands"));
  EXPECT_THAT(
      FailureText(std::string(kFenced) + kBegin + "add.s64 %d5, %d5, 12000;\n" +
                  multiply + kCommit + kWait),
      HasSubstr("an operand is not all there"));
  const auto with_bits = [&](const std::string& bits) {
    return FailureText(std::string(kFenced) + kBegin + "or.b64 %d5, %d5, " +
                       bits + ";\n" + multiply + kCommit + kWait);
  };
  EXPECT_THAT(with_bits("0x8000000000000000"),
              HasSubstr("does not swizzle 32 or 64 bytes"));
  EXPECT_THAT(with_bits("0xc000000000000000"),
              HasSubstr("does not swizzle 32 or 64 bytes"));
  EXPECT_THAT(with_bits("0x0002000000000000"), HasSubstr("bits that the"));
  // Nobody waits for the products, or one of the four warps makes none.
  EXPECT_THAT(FailureText(std::string(kFenced) + kBegin + multiply + kCommit),
              HasSubstr("the block ended and did not wait for it"));
  EXPECT_THAT(FailureText(std::string(kFenced) +
                          "setp.ge.u32 %p3, %t, 96;\n@%p3 ret;\n" + kBegin +
                          multiply + kCommit + kWait),
              HasSubstr("warp 3 makes 0 of the 1 products of four warps"));
}

// Operands as swizzled copies make them: of 64 terms, or of 64 rows and columns
// one after the other where those are beside each other.
constexpr int kLongDepth = 64, kManyColumns = 256;
constexpr size_t kRowBytes = 128, kPartBytes = 1024;
constexpr size_t kGapBytes = 1024;  // between 64 columns and the next

// The byte of an element, without the swizzle.
size_t ByteOf(bool terms_are_lines, int side, int term) {
  if (!terms_are_lines) return side * kRowBytes + term * 2;
  return side / 64 * (kLongDepth * kRowBytes + kGapBytes) + term * kRowBytes +
         side % 64 * 2;
}

void PlaceSwizzled(const std::vector<float>& matrix, bool terms_are_lines,
                   size_t start, std::vector<uint32_t>* words) {
  for (size_t k = 0; k < matrix.size(); ++k) {
    const size_t byte =
        start + ByteOf(terms_are_lines, static_cast<int>(k) / kLongDepth,
                       static_cast<int>(k) % kLongDepth);
    // Bits 4 to 6 are exchanged with those of the row.
    const size_t place = byte ^ (byte / kRowBytes % 8 * 16);
    const uint32_t bits = Narrow<Half>(matrix[k]).bits;
    words->at(place / 4) |= bits << (place % 4 * 8);
  }
}

// The matrix begins at this one of its terms, and has 16.
uint64_t SwizzledDescriptor(bool terms_are_lines, size_t start, int term) {
  return DescriptorOf(start + ByteOf(terms_are_lines, 0, term),
                      terms_are_lines ? kLongDepth * kRowBytes + kGapBytes : 0,
                      kPartBytes) |
         uint64_t{1} << 62;
}

// Four products, and stores of their sums.
std::string LongProduct(const Case& c, size_t start_of_b) {
  std::string sums = "%sum0", text = ".reg .f32 %sum<128>;\n";
  for (int k = 1; k < 128; ++k) sums += ", %sum" + std::to_string(k);
  for (int k = 0; k < 128; ++k) {
    text += "mov.f32 %sum" + std::to_string(k) + ", 0f00000000;\n";
  }
  text += kBegin;
  for (int term = 0; term < kLongDepth; term += kDepth) {
    const auto descriptor = [&](bool terms_are_lines, size_t start) {
      return std::to_string(SwizzledDescriptor(terms_are_lines, start, term));
    };
    text += "mov.u64 %d5, " + descriptor(c.a_lines_are_terms, 0) +
            ";\nmov.u64 %d6, " + descriptor(c.b_lines_are_terms, start_of_b) +
            ";\nwgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" + sums +
            "}, %d5, %d6, %p2, 1, 1, " + std::to_string(c.a_lines_are_terms) +
            ", " + std::to_string(c.b_lines_are_terms) + ";\n";
  }
  text += std::string(kCommit) + kWait;
  for (int k = 0; k < 128; ++k) {
    text += "st.global.f32 [%out+" + std::to_string(4 * k) + "], %sum" +
            std::to_string(k) + ";\n";
  }
  return text;
}

void ExpectLongProduct(const std::vector<float>& a, const std::vector<float>& b,
                       const std::vector<uint32_t>& out) {
  for (int at = 0; at < kThreads * 128; ++at) {
    const int thread = at / 128, k = at % 128;
    const int row = thread / 32 * 16 + thread % 32 / 4 + (k % 4 >= 2 ? 8 : 0);
    const int column = k / 4 * 8 + thread % 4 * 2 + k % 2;
    float expected = 0, found;
    for (int d = 0; d < kLongDepth; ++d) {
      expected += a[row * kLongDepth + d] * b[column * kLongDepth + d];
    }
    std::memcpy(&found, &out[at], sizeof found);
    ASSERT_EQ(found, expected) << row << " " << column;
  }
}

TEST(PtxWarpGroups, MultiplySwizzledOperands) {
  const std::vector<float> a = RandomMatrix(kRows, 1, kLongDepth),
                           b = RandomMatrix(kManyColumns, 2, kLongDepth);
  for (const Case& c : {Case{false, false}, Case{false, true},
                        Case{true, false}, Case{true, true}}) {
    const size_t start_of_b = kRows * kRowBytes;
    std::vector<uint32_t> words(
        (start_of_b + kManyColumns * kRowBytes + 3 * kGapBytes) / 4);
    PlaceSwizzled(a, c.a_lines_are_terms, 0, &words);
    PlaceSwizzled(b, c.b_lines_are_terms, start_of_b, &words);
    const std::vector<uint32_t> out =
        WordsOf(CopyIn(words.size()) + kFenced + LongProduct(c, start_of_b),
                kThreads, words, 128);
    ExpectLongProduct(a, b, out);
  }
}

// The bytes of five boxes of 64 x 64 come one after the other from a stack of
// matrices: first a, then 64 columns of b each.
std::string BulkCopies(size_t start_of_b, size_t bytes) {
  std::string text = R"(
  .shared .align 1024 .b8 operands[)" +
                     std::to_string(bytes) + R"(];
  .shared .align 8 .b8 barrier[8];
  setp.eq.u32 %p2, 0, 0;
  mov.b64 %d1, k_param_2;
  cvta.param.u64 %d2, %d1;
  mov.u64 %d3, barrier;
  mov.u64 %d4, operands;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra $made;
  mbarrier.init.shared::cta.b64 [%d3], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%d3], 40960;
)";
  for (int k = 0; k < 5; ++k) {
    text +=
        "cp.async.bulk.tensor.3d.shared::cluster.global"
        ".mbarrier::complete_tx::bytes [%d4], [%d2, {0, 0, " +
        std::to_string(k) + "}], [%d3];\nadd.s64 %d4, %d4, " +
        std::to_string(k == 0 ? start_of_b
                              : kLongDepth * kRowBytes + kGapBytes) +
        ";\n";
  }
  return text + "$made:\nbar.sync 0;\n";
}

TEST(PtxWarpGroups, MultiplyWhatBulkCopiesBring) {
  const std::vector<float> a = RandomMatrix(kRows, 1, kLongDepth),
                           b = RandomMatrix(kManyColumns, 2, kLongDepth);
  std::vector<uint32_t> in(5 * 64 * 64 / 2);
  for (size_t k = 0; k < 2 * in.size(); ++k) {
    const size_t column = (k / 4096 - 1) * 64 + k % 64, term = k / 64 % 64;
    const float number = k < 4096 ? a[k] : b[column * kLongDepth + term];
    in[k / 2] |= uint32_t{Narrow<Half>(number).bits} << (k % 2 * 16);
  }
  TensorMap map;
  map.rank = 3;
  map.element_bytes = 2;
  map.swizzle = kSwizzle128;
  map.extents[0] = map.extents[1] = map.box[0] = map.box[1] = 64;
  map.extents[2] = 5;
  map.box[2] = 1;
  map.strides[0] = 128;
  map.strides[1] = 64 * 128;
  const size_t start_of_b = kRows * kRowBytes;
  const std::string copies = BulkCopies(
      start_of_b, start_of_b + kManyColumns * kRowBytes + 3 * kGapBytes);
  const std::string wait = R"($try:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%d3], 0;
  @!%p1 bra $try;
)";
  const std::string product = LongProduct({false, true}, start_of_b);
  std::vector<uint32_t> out(kThreads * 128);
  Failure failure = RunText(KernelWithMap(copies + wait + product, 128),
                            kThreads, in, &out, 1, &map);
  EXPECT_EQ(failure.code, 0) << failure.text;
  ExpectLongProduct(a, b, out);
  failure = RunText(KernelWithMap(copies + product + wait, 128), kThreads, in,
                    &out, 1, &map);
  EXPECT_THAT(failure.text, HasSubstr("has not waited for the bulk copy"));
}

}  // namespace
}  // namespace ingot::isa::ptx
